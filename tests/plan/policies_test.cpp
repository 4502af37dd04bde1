// What the manager does under any policy is a schedule too: verify() understands it as the manager
// does, and none costs less than the best.
#include <gtest/gtest.h>

#include "plan/milp.h"
#include "plan/random_problem.h"
#include "plan/recorded_run.h"
#include "plan/verify.h"

namespace weir::plan::test {
namespace {

using Make = Trace (*)(std::uint64_t seed);

class Policies : public testing::TestWithParam<Make> {};

TEST_P(Policies, NeverBeatTheBound) {
  std::size_t runs = 0, restored = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Trace trace = GetParam()(seed);
    const Problem problem = problem_of(trace);
    const Bytes floor = floor_of(problem).budget;
    const Bytes budget{floor.n +
                       static_cast<std::int64_t>(seed % 3) * (problem.peak.n - floor.n) / 3};
    const Answer best = solve_milp(problem, budget, {.threads = 1, .rounds = 2});
    for (const PolicyEntry& policy : policies()) {
      for (const RestoreOrder order : {RestoreOrder::DepthFirst, RestoreOrder::Lean}) {
        const std::optional<RecordedRun> run = record(trace, problem, policy, budget, order);
        if (!run) continue;
        const Schedule schedule{
            .ops = problem.signatures, .budget = budget, .first = 0, .moves = run->moves};
        const Verdict verdict = verify(problem, schedule);
        ASSERT_EQ(verdict.violation, std::nullopt)
            << policy.name << ", seed " << seed << ", move " << verdict.at;
        ASSERT_EQ(verdict.cost, run->clock) << policy.name << ", seed " << seed;
        ASSERT_LE(verdict.peak, run->peak) << policy.name << ", seed " << seed;
        ASSERT_TRUE(best.plan) << policy.name << ", seed " << seed;
        ASSERT_LE(best.bound, run->clock) << policy.name << ", seed " << seed;
        ++runs;
        if (run->clock > problem.base_cost) ++restored;
      }
    }
  }
  EXPECT_GT(runs, 3000u);
  EXPECT_GT(restored, runs / 20);
}

INSTANTIATE_TEST_SUITE_P(Graphs, Policies, testing::Values(random_graph));
INSTANTIATE_TEST_SUITE_P(Logs, Policies, testing::Values(random_log));
INSTANTIATE_TEST_SUITE_P(Training, Policies, testing::Values(random_training));

}  // namespace
}  // namespace weir::plan::test
