#include "plan/random_problem.h"

#include <numeric>

#include "base/rng.h"
#include "trace/generate.h"
#include "trace/graph_program.h"

namespace weir::plan::test {

Trace random_graph(std::uint64_t seed) {
  base::Rng rng{seed};
  std::vector<trace::GraphNode> nodes(3 + rng.below(6));
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    nodes[i].name = "op" + std::to_string(i);
    nodes[i].cost = {static_cast<std::int64_t>(rng.below(8))};
    nodes[i].size = {static_cast<std::int64_t>(rng.below(6))};
    for (std::uint32_t input = 0; input < i; ++input)
      if (rng.chance(input + 1 == i ? 3 : 1, 4)) nodes[i].inputs.push_back(input);
  }
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  Trace trace = trace::program_of(nodes, order, ViewRule::Rerun, "graph " + std::to_string(seed));
  for (TraceOp& op : trace.ops)
    if (rng.chance(1, 4)) op.scratch = {static_cast<std::int64_t>(rng.below(4))};
  return trace;
}

Trace random_log(std::uint64_t seed) {
  return trace::random_log_trace(
      seed, {.ops = 6, .constants = 1, .most_live = 5, .most_bytes = {6}, .most_cost = {8}});
}

Trace random_training(std::uint64_t seed) {
  return trace::training_step(
      seed,
      {.steps = 1, .ops = 3, .parameters = 1, .most_live = 5, .most_bytes = {6}, .most_cost = {8}});
}

Problem rest_of(Problem problem, std::uint64_t seed) {
  base::Rng rng{seed};
  const auto first = static_cast<std::uint32_t>(1 + rng.below(problem.ops.size()));
  problem.start.first = first;
  std::vector<bool> there(problem.values.size());
  for (std::uint32_t i = 0; i < problem.values.size(); ++i) {
    const Value& value = problem.values[i];
    const bool could = value.appears < first && value.changed_by >= first;
    const bool has_bytes = value.view_of == kNoValue || there[index(value.view_of)];
    there[i] = could && has_bytes && (value.held_in(first) || rng.chance(2, 3));
    if (there[i]) problem.start.resident.push_back(ValueId{i});
  }
  return problem;
}

Bytes budget_for(const Problem& problem, std::uint64_t seed) {
  Bytes at_start;
  for (ValueId value : problem.start.resident) at_start += problem[value].size;
  const Bytes floor = std::max(at_start, floor_of(problem).budget);
  const std::int64_t room = std::max<std::int64_t>(problem.peak.n - floor.n, 0);
  return {floor.n + static_cast<std::int64_t>(seed % 4) * room / 4};
}

Problem with_tier(Problem problem, std::uint64_t seed) {
  base::Rng rng{seed};
  const auto lane = [&] {
    return Lane{{static_cast<std::int64_t>(rng.below(2))},
                1 / static_cast<double>(1 + rng.below(3))};
  };
  const Lane write = lane(), read = lane();
  problem.tier = TierSpec{{write, read}, {static_cast<std::int64_t>(rng.below(13))}};
  return problem;
}

}  // namespace weir::plan::test
