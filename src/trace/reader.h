#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "trace/jsonl_reader.h"
#include "weir/trace.h"

namespace weir::trace {

// Reads a trace in any format we know, told apart by content, not by name: Weir's own, a log of
// DTR's prototype, a graph of Checkmate; each also compressed with zstd. Whatever is wrong throws
// BadInput with one line: "file:line: what; what to do".
Trace read_trace(const std::filesystem::path& path);
Trace read_trace(std::span<const char> bytes, std::string_view source);

// Like read_trace, but a trace of Weir's own format that ends too early (a crashed recorder, a full
// disk) is taken as far as it can be read.
Readable read_what_is_readable(const std::filesystem::path& path);
Readable read_what_is_readable(std::span<const char> bytes, std::string_view source);

}  // namespace weir::trace
