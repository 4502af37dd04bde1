// The bound for big steps against trying everything: no schedule in any order is below it.
#include <gtest/gtest.h>

#include "plan/gaps.h"
#include "plan/naive.h"
#include "plan/random_problem.h"
#include "plan/verify.h"

namespace weir::plan::test {
namespace {

struct Seen {
  std::uint64_t feasible = 0, dearer = 0, raised = 0, proven = 0;
};

void compare(const Problem& problem, std::uint64_t seed, Seen& seen) {
  if (problem.values.size() > 18) return;
  const Bytes budget = budget_for(problem, seed);
  const std::optional<Nanos> best = naive_optimum(problem, budget, Order::Any);
  const Answer answer = solve_gaps(problem, budget, {.seconds = 20, .threads = 1});
  if (!best) {
    EXPECT_FALSE(answer.plan) << "seed " << seed;
    return;
  }
  ++seen.feasible;
  ASSERT_NE(answer.outcome, Outcome::Infeasible) << "seed " << seed;
  EXPECT_LE(answer.bound, *best) << "seed " << seed;
  if (*best > cost_without_budget(problem)) ++seen.dearer;
  if (answer.bound > cost_without_budget(problem)) ++seen.raised;
  if (!answer.plan) return;
  const Verdict verdict = verify(problem, answer.plan->schedule);
  EXPECT_EQ(verdict.violation, std::nullopt) << "seed " << seed;
  EXPECT_EQ(verdict.cost, answer.plan->cost) << "seed " << seed;
  EXPECT_GE(verdict.cost, *best) << "seed " << seed;
  if (answer.outcome == Outcome::Optimal) ++seen.proven;
}

TEST(Gaps, BoundEverySchedule) {
  Seen seen;
  for (std::uint64_t seed = 0; seed < seeds(300); ++seed) {
    for (const auto make : {random_graph, random_log, random_training}) {
      const Problem problem = problem_of(make(seed));
      compare(problem, seed, seen);
      compare(rest_of(problem, seed), seed, seen);
    }
  }
  EXPECT_GT(seen.feasible, seeds(900));
  EXPECT_GT(seen.raised, seen.dearer / 2);
  EXPECT_GT(seen.proven, seen.feasible / 2);
}

}  // namespace
}  // namespace weir::plan::test
