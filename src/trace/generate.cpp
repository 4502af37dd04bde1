#include "trace/generate.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "trace/builder.h"
#include "trace/graph_program.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

constexpr std::uint32_t kMostNodes = 1u << 26;

void check_nodes(std::uint64_t nodes) {
  if (nodes == 0 || nodes > kMostNodes)
    throw BadInput(fmt::format("a generated trace must have 1 to {} ops per pass", kMostNodes));
}

Trace run_in_order(const std::vector<GraphNode>& nodes, std::string source) {
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  return program_of(nodes, order, ViewRule::Rerun, std::move(source));
}

// Appends the backward pass: the gradient of a node needs those of its users and its own inputs.
void add_gradients(std::vector<GraphNode>& nodes) {
  auto forward = static_cast<std::uint32_t>(nodes.size());
  auto gradient_of = [&](std::uint32_t node) { return 2 * forward - 1 - node; };
  std::vector<std::vector<std::uint32_t>> users(forward);
  for (std::uint32_t node = 0; node < forward; ++node)
    for (std::uint32_t input : nodes[node].inputs) users[input].push_back(node);
  for (std::uint32_t node = forward; node-- > 0;) {
    GraphNode gradient = nodes[node];
    gradient.name += "_backward";
    gradient.phase = Phase::Backward;
    for (std::uint32_t user : users[node]) gradient.inputs.push_back(gradient_of(user));
    nodes.push_back(std::move(gradient));
  }
}

}  // namespace

Trace linear_chain(std::uint32_t n, Bytes size, Nanos cost) {
  check_nodes(n);
  TraceBuilder builder{ViewRule::Rerun, fmt::format("linear_chain({})", n)};
  const Output out{.size = size};
  auto run = [&](const char* name, Phase phase, std::span<const TensorId> inputs) {
    return builder.op(
        {.name = name, .phase = phase, .cost = cost, .inputs = inputs, .outputs = {&out, 1}});
  };
  std::vector<TensorId> forward;
  for (std::uint32_t k = 0; k < n; ++k) {
    std::span<const TensorId> all{forward};
    TensorId next = run("layer", Phase::Forward, all.last(std::min<std::size_t>(k, 1)));
    forward.push_back(next);
  }
  builder.release(forward.back());
  TensorId gradient = run("layer_backward", Phase::Backward, {});
  for (std::uint32_t k = n - 1; k-- > 0;) {
    builder.release(forward[k]);
    const TensorId inputs[] = {k > 0 ? forward[k - 1] : gradient, gradient};
    TensorId next = run("layer_backward", Phase::Backward, std::span(inputs).last(k > 0 ? 2 : 1));
    builder.release(gradient);
    gradient = next;
  }
  return std::move(builder).finish();
}

Trace binary_tree(std::uint32_t depth, Bytes size, Nanos cost) {
  if (depth > 25) throw BadInput("a generated tree must have a depth of at most 25");
  std::vector<GraphNode> nodes;
  std::uint32_t below = 0;  // first node of the level below
  for (std::uint32_t width = 1u << depth; width > 0; width /= 2) {
    auto first = static_cast<std::uint32_t>(nodes.size());
    for (std::uint32_t i = 0; i < width; ++i) {
      GraphNode node{.name = "leaf", .cost = cost, .size = size, .inputs = {}};
      if (first > 0) {
        node.name = "join";
        node.inputs = {below + 2 * i, below + 2 * i + 1};
      }
      nodes.push_back(std::move(node));
    }
    below = first;
  }
  add_gradients(nodes);
  return run_in_order(nodes, fmt::format("binary_tree({})", depth));
}

Trace layered_dag(std::uint32_t layers, std::uint32_t width, std::uint64_t seed) {
  check_nodes(std::uint64_t{layers} * width);
  base::Rng rng{seed};
  std::vector<GraphNode> nodes;
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    auto first = static_cast<std::uint32_t>(nodes.size());
    for (std::uint32_t i = 0; i < width; ++i) {
      GraphNode node{.name = fmt::format("layer{}", layer % 16),
                     .cost = {static_cast<std::int64_t>(1 + rng.below(1000))},
                     .size = {static_cast<std::int64_t>(64 * (1 + rng.below(1024)))},
                     .inputs = {}};
      for (std::uint64_t links = layer == 0 ? 0 : 1 + rng.below(3); links > 0; --links) {
        bool skips = rng.chance(1, 8);
        std::uint32_t from = skips ? 0 : first - width;
        node.inputs.push_back(from + static_cast<std::uint32_t>(rng.below(first - from)));
      }
      nodes.push_back(std::move(node));
    }
  }
  add_gradients(nodes);
  return run_in_order(nodes, fmt::format("layered_dag({}, {}, seed {})", layers, width, seed));
}

}  // namespace weir::trace
