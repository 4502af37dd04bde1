#pragma once

#include <cstdlib>
#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "trace/dtr_log.h"
#include "trace/info.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "weir/errors.h"

namespace weir::trace {

// What must hold for any bytes: they are a trace that can be written and read again, or are refused
// with one line; and the two parsers of DTR's logs agree. Aborts if not.
inline std::string written_form(const Trace& trace) {
  StringSink sink;
  write_trace(trace, sink);
  return sink.text();
}

template <typename Read>
std::string outcome(Read read) {
  try {
    return written_form(read());
  } catch (const BadInput& error) {
    std::string_view line = error.what();
    if (line.find('\n') != std::string_view::npos || line.size() > 1000) std::abort();
    return std::string(line);
  }
}

inline void check_reader(std::string_view text) {
  std::span<const char> bytes{text};
  outcome([&] {
    Trace trace = read_trace(bytes, "fuzz");
    info_of(trace);
    std::string once = written_form(trace);
    if (written_form(read_trace(std::span<const char>(once), "again")) != once) std::abort();
    return trace;
  });
  outcome([&] { return read_what_is_readable(bytes, "fuzz").trace; });
  std::string fast = outcome([&] { return read_dtr_log(bytes, "log", DtrParser::Fast); });
  std::string slow = outcome([&] { return read_dtr_log(bytes, "log", DtrParser::Generic); });
  if (fast != slow) std::abort();
}

}  // namespace weir::trace
