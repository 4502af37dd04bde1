// The MILP against trying everything, on thousands of small random traces.
#include <gtest/gtest.h>

#include "plan/milp.h"
#include "plan/naive.h"
#include "plan/random_problem.h"
#include "plan/verify.h"

namespace weir::plan::test {
namespace {

using Make = Trace (*)(std::uint64_t seed);
struct Kind {
  const char* name;
  Make make;
  std::uint64_t seeds;
};

std::string name_of(const testing::TestParamInfo<Kind>& info) { return info.param.name; }

class BruteForce : public testing::TestWithParam<Kind> {};

// What is best in any order is best with a few rounds between two first runs.
void expect_more_rounds_to_find(const Problem& problem, Bytes budget, std::optional<Nanos> best,
                                std::uint64_t seed) {
  ASSERT_TRUE(best) << "seed " << seed;
  const Answer answer = solve_milp(problem, budget, {.seconds = 60, .threads = 1, .rounds = 3});
  ASSERT_EQ(answer.outcome, Outcome::Optimal) << "seed " << seed;
  EXPECT_EQ(answer.plan->cost, *best) << "seed " << seed;
  EXPECT_EQ(verify(problem, answer.plan->schedule).violation, std::nullopt) << "seed " << seed;
}

TEST_P(BruteForce, FindsNothingBetter) {
  std::uint64_t feasible = 0, dearer = 0, order_matters = 0;
  for (std::uint64_t seed = 0; seed < GetParam().seeds; ++seed) {
    const Problem problem = problem_of(GetParam().make(seed));
    if (problem.values.size() > 18) continue;
    const Bytes budget = budget_for(problem, seed);
    const std::optional<Nanos> best = naive_optimum(problem, budget, Order::Staged);
    const Answer answer = solve_milp(problem, budget, {.seconds = 60, .threads = 1});
    ASSERT_EQ(answer.outcome, best ? Outcome::Optimal : Outcome::Infeasible) << "seed " << seed;
    const std::optional<Nanos> free = naive_optimum(problem, budget, Order::Any);
    if (free != best) {
      ++order_matters;
      expect_more_rounds_to_find(problem, budget, free, seed);
    }
    if (!best) continue;
    ASSERT_EQ(answer.plan->cost, *best) << "seed " << seed;
    ASSERT_EQ(answer.bound, *best) << "seed " << seed;
    const Verdict verdict = verify(problem, answer.plan->schedule);
    ASSERT_EQ(verdict.violation, std::nullopt) << "seed " << seed;
    ASSERT_EQ(verdict.cost, *best) << "seed " << seed;
    ASSERT_EQ(verdict.peak, answer.plan->peak) << "seed " << seed;
    ++feasible;
    if (*best > problem.base_cost) ++dearer;
  }
  EXPECT_GT(feasible, GetParam().seeds / 2);
  EXPECT_GT(dearer, feasible / 20);
  EXPECT_LT(order_matters, feasible / 100);
}

// From any state, also one in which something is gone for good.
TEST_P(BruteForce, FindsNothingBetterForTheRestOfAStep) {
  std::uint64_t feasible = 0, dearer = 0;
  for (std::uint64_t seed = 0; seed < GetParam().seeds / 2; ++seed) {
    const Problem problem = rest_of(problem_of(GetParam().make(seed)), seed);
    if (problem.values.size() > 18) continue;
    const Bytes budget = budget_for(problem, seed);
    const std::optional<Nanos> best = naive_optimum(problem, budget, Order::Staged);
    const Answer answer = solve_milp(problem, budget, {.seconds = 60, .threads = 1});
    ASSERT_EQ(answer.outcome, best ? Outcome::Optimal : Outcome::Infeasible) << "seed " << seed;
    if (!best) continue;
    ASSERT_EQ(answer.plan->cost, *best) << "seed " << seed;
    const Verdict verdict = verify(problem, answer.plan->schedule);
    ASSERT_EQ(verdict.violation, std::nullopt) << "seed " << seed;
    ASSERT_EQ(verdict.cost, *best) << "seed " << seed;
    ++feasible;
    if (*best > cost_without_budget(problem)) ++dearer;
  }
  EXPECT_GT(feasible, GetParam().seeds / 8);
  EXPECT_GT(dearer, feasible / 20);
}

INSTANTIATE_TEST_SUITE_P(Plan, BruteForce,
                         testing::Values(Kind{"graph", random_graph, seeds(3000)},
                                         Kind{"log", random_log, seeds(1500)},
                                         Kind{"training", random_training, seeds(1500)}),
                         name_of);

}  // namespace
}  // namespace weir::plan::test
