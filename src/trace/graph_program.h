#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "weir/trace.h"

namespace weir::trace {

// A computation without a program: nodes that each make one tensor from those of other nodes.
struct GraphNode {
  std::string name;
  Phase phase = Phase::Forward;
  Nanos cost;
  Bytes size;
  std::vector<std::uint32_t> inputs;  // indices of nodes
};

// The program that runs each node once in the given order (inputs first) and releases each tensor
// after its last use, or at once if it has none; several at one place by ascending index.
Trace program_of(std::span<const GraphNode> nodes, std::span<const std::uint32_t> order,
                 ViewRule views, std::string source);

}  // namespace weir::trace
