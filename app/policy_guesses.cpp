#include "policy_guesses.h"

#include <string_view>

#include "sim/replay.h"

namespace weir::app {
namespace {

constexpr std::size_t kMostOps = 1000;
constexpr std::string_view kTried[] = {"h_dtr", "h_dtr_eq", "h_dtr_local", "msps"};
constexpr double kShares[] = {1.0, 0.99, 0.97, 0.95};

void note(plan::Retention& retention, const plan::Problem& problem, std::uint32_t op,
          const Graph& graph) {
  for (std::uint32_t i = 0; i < problem.values.size(); ++i) {
    const plan::Value& value = problem.values[i];
    if (value.appears >= op || value.view_of != plan::kNoValue) continue;
    const Storage& storage = graph[value.storage];
    if (storage.resident() && storage.complete()) retention.keep(op, plan::ValueId{i});
  }
}

}  // namespace

std::vector<plan::Retention> policy_guesses(const Trace& trace, const plan::Problem& problem,
                                            Bytes budget) {
  std::vector<plan::Retention> guesses;
  if (trace.ops.size() > kMostOps) return guesses;
  for (const std::string_view policy : kTried) {
    for (const double share : kShares) {
      plan::Retention retention{problem};
      const sim::ReplayOptions options{
          .budget = {static_cast<std::int64_t>(static_cast<double>(budget.n) * share)},
          .watch = [&](std::uint32_t op, const Graph& graph) {
            note(retention, problem, op, graph);
          }};
      if (sim::replay(trace, find_policy(policy), options).status == sim::Status::Ok)
        guesses.push_back(std::move(retention));
    }
  }
  return guesses;
}

}  // namespace weir::app
