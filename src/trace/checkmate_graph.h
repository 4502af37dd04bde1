#pragma once

#include <span>
#include <string_view>

#include "weir/trace.h"

namespace weir::trace {

// A graph of Checkmate (node-link JSON with cost_cpu and cost_ram), made a program: one op per
// node, smallest id first among those that can run, releases by liveness.
Trace read_checkmate_graph(std::span<const char> bytes, std::string_view source);

}  // namespace weir::trace
