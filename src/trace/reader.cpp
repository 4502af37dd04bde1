#include "trace/reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trace/checkmate_graph.h"
#include "trace/dtr_log.h"
#include "trace/file_bytes.h"
#include "trace/jsonl_fields.h"
#include "trace/jsonl_reader.h"
#include "trace/lines.h"
#include "trace/message.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";

bool begins_with_key(std::string_view text, std::string_view key) {
  if (!text.starts_with('{')) return false;
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n", 1), text.size()));
  return text.starts_with(fmt::format("\"{}\"", key));
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Readable read_text(std::string_view text, std::string_view source) {
  if (text.starts_with(kUtf8Mark)) text.remove_prefix(kUtf8Mark.size());
  std::string_view content = trimmed(text);
  if (content.empty())
    throw BadInput(located(source, "is empty; record or convert the trace again"));
  if (begins_with_key(content, kHeaderKey)) return read_jsonl(text, source);
  std::string_view first_line = content.substr(0, content.find('\n'));
  if (contains(first_line, "\"INSTRUCTION\"")) return {read_dtr_log(text, source), ""};
  if (contains(content, "\"nodes\"")) return {read_checkmate_graph(text, source), ""};
  throw BadInput(located(source, 1,
                         "this is no trace: neither Weir's format (see docs/"
                         "trace_format.md) nor a DTR log nor a Checkmate graph"));
}

std::string_view as_text(std::span<const char> bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace

Trace read_trace(std::span<const char> bytes, std::string_view source) {
  Unfolded inner;
  if (is_zstd(bytes)) {
    inner = unfolded(bytes, source);
    if (!inner.error.empty()) throw BadInput(located(source, inner.error));
    bytes = inner.text;
  }
  Readable readable = read_text(as_text(bytes), source);
  if (!readable.error.empty()) throw BadInput(readable.error);
  return std::move(readable.trace);
}

Trace read_trace(const std::filesystem::path& path) {
  return read_trace(file_bytes(path), path.native());
}

Readable read_what_is_readable(std::span<const char> bytes, std::string_view source) {
  if (!is_zstd(bytes)) return read_text(as_text(bytes), source);
  Unfolded inner = unfolded(bytes, source);
  std::string error = inner.error.empty() ? "" : located(source, inner.error);
  if (!error.empty() && trimmed(as_text(inner.text)).empty()) throw BadInput(error);
  Readable readable = read_text(as_text(inner.text), source);
  if (!error.empty()) readable.error = std::move(error);
  return readable;
}

Readable read_what_is_readable(const std::filesystem::path& path) {
  return read_what_is_readable(file_bytes(path), path.native());
}

}  // namespace weir::trace
