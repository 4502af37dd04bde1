#pragma once

#include <string>
#include <string_view>

#include "weir/trace.h"

namespace weir::trace {

struct Readable {
  Trace trace;        // all events up to the first mistake
  std::string error;  // that mistake as "file:line: ..."; empty if there was none
};

// Reads Weir's own format (docs/trace_format.md) from a text that is not blank. A wrong header
// throws BadInput: then there is nothing readable.
Readable read_jsonl(std::string_view text, std::string_view source);

}  // namespace weir::trace
