#include "trace/graph_program.h"

#include <algorithm>
#include <utility>

#include "trace/builder.h"

namespace weir::trace {
namespace {

using NodeLists = std::vector<std::vector<std::uint32_t>>;

// For each node, the nodes whose tensors nobody needs once it has run.
NodeLists released_after(std::span<const GraphNode> nodes, std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> last_user(nodes.size());
  for (std::uint32_t node : order) {
    last_user[node] = node;
    for (std::uint32_t input : nodes[node].inputs) last_user[input] = node;
  }
  NodeLists released(nodes.size());
  for (std::uint32_t node = 0; node < nodes.size(); ++node)
    released[last_user[node]].push_back(node);
  return released;
}

}  // namespace

Trace program_of(std::span<const GraphNode> nodes, std::span<const std::uint32_t> order,
                 ViewRule views, std::string source) {
  TraceBuilder builder{views, std::move(source)};
  NodeLists released = released_after(nodes, order);
  std::vector<TensorId> tensors(nodes.size()), inputs;
  for (std::uint32_t place : order) {
    const GraphNode& node = nodes[place];
    inputs.clear();
    for (std::uint32_t input : node.inputs) inputs.push_back(tensors[input]);
    const Output out{.size = node.size};
    tensors[place] = builder.op({.name = node.name,
                                 .phase = node.phase,
                                 .cost = node.cost,
                                 .inputs = inputs,
                                 .outputs = {&out, 1}});
    for (std::uint32_t done : released[place]) builder.release(tensors[done]);
  }
  return std::move(builder).finish();
}

}  // namespace weir::trace
