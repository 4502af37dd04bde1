#include "trace/dtr_log.h"

#include <algorithm>
#include <string>

#include "trace/dtr_import.h"
#include "trace/dtr_scan.h"
#include "trace/lines.h"
#include "trace/message.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

bool says_start(std::string_view line) {
  try {
    JsonLine json;
    bool annotates = false, start = false;
    for (auto [key, value] : json.parse(line)) {
      if (key == "INSTRUCTION") annotates = value.get_string().value() == "ANNOTATE";
      if (key == "ANNOTATION") start = value.get_string().value() == "START";
    }
    return annotates && start;
  } catch (const simdjson::simdjson_error&) {
    return false;  // whatever comes before START does not count
  }
}

// Where the log begins: after the line that says START, or at its first byte if none does.
std::size_t begin_of_log(std::string_view text) {
  for (std::size_t hit = text.find("\"START\""); hit != std::string_view::npos;) {
    std::size_t first = text.rfind('\n', hit) + 1;  // npos + 1 = 0: the first line
    std::size_t next = std::min(text.find('\n', hit), text.size() - 1) + 1;
    if (says_start(trimmed(text.substr(first, next - first)))) return next;
    hit = text.find("\"START\"", next);
  }
  return 0;
}

class Reading {
 public:
  Reading(std::string_view text, std::string_view source, DtrParser parser)
      : text_{text}, source_{source}, import_{std::string(source), text.size()} {
    if (parser == DtrParser::Fast) end_of_scan_ = end_of_safe_scan();
  }

  Trace run() {
    try {
      at_ = begin_of_log(text_);
      line_ = lines_in(text_.substr(0, at_));
      while (at_ < text_.size()) read_line();
      return std::move(import_).finish(line_);
    } catch (const BadInput& error) {
      throw BadInput(located(source_, std::max<std::size_t>(line_, 1), error.what()));
    }
  }

 private:
  // The scanner may read a few bytes beyond the newline of its line: it stops before the last ones.
  [[nodiscard]] std::size_t end_of_safe_scan() const {
    constexpr auto kBeyond = static_cast<std::size_t>(DtrScanner::kReadsBeyond);
    if (text_.size() <= kBeyond) return 0;
    return text_.rfind('\n', text_.size() - kBeyond - 1) + 1;
  }

  void read_line() {
    ++line_;
    if (at_ < end_of_scan_) {
      const char* at = text_.data() + at_;
      if (scanner_.scan(at)) {
        at_ = static_cast<std::size_t>(at - text_.data());
        return;
      }
    }
    std::size_t next = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    std::string_view line = trimmed(text_.substr(at_, next - at_));
    at_ = next;
    if (!line.empty()) reader_.read(line);
  }

  std::string_view text_, source_;
  std::size_t end_of_scan_ = 0;  // lines that start before it also end before it
  std::size_t at_ = 0, line_ = 0;
  DtrImport import_;
  DtrScanner scanner_{import_};
  DtrLineReader reader_{import_};
};

}  // namespace

Trace read_dtr_log(std::span<const char> bytes, std::string_view source, DtrParser parser) {
  return Reading({bytes.data(), bytes.size()}, source, parser).run();
}

}  // namespace weir::trace
