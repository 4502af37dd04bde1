#pragma once

#include <span>
#include <string_view>

#include "weir/trace.h"

namespace weir::trace {

// `Generic` reads every line as any JSON; the twin of `Fast`, which knows the logger's own shapes.
enum class DtrParser { Fast, Generic };

// A log of DTR's PyTorch prototype, read as simrd reads it. Throws BadInput with file and line.
Trace read_dtr_log(std::span<const char> bytes, std::string_view source,
                   DtrParser parser = DtrParser::Fast);

}  // namespace weir::trace
