// POET's model against trying everything, on small random traces with a tier.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/methods.h"
#include "plan/milp.h"
#include "plan/naive.h"
#include "plan/poet.h"
#include "plan/random_problem.h"
#include "plan/verify.h"

namespace weir::plan::test {
namespace {

struct Kind {
  const char* name;
  Trace (*make)(std::uint64_t seed);
  std::uint64_t seeds;
};

std::string name_of(const testing::TestParamInfo<Kind>& info) { return info.param.name; }

class Poet : public testing::TestWithParam<Kind> {};

bool is_small(const Problem& problem) {
  return problem.ops.size() <= 9 && problem.values.size() <= 9;
}

bool copies(const Plan& plan) {
  return std::ranges::any_of(plan.schedule.moves,
                             [](ScheduledMove move) { return move.move == Move::Fetch; });
}

void offload_some(Problem& problem, std::uint64_t seed) {
  Bytes room = problem.tier->capacity;
  std::vector<bool> seen(problem.storages.size());
  for (const Value& value : problem.values) {
    const std::uint32_t storage = index(value.storage);
    const bool there = value.appears < problem.start.first &&
                       value.changed_by >= problem.start.first && value.view_of == kNoValue;
    if (!there || seen[storage] || (seed + storage) % 3 == 0 || value.size > room) continue;
    seen[storage] = true;
    room -= value.size;
    problem.start.offloaded.push_back(value.storage);
  }
}

void expect_right(const Problem& problem, const Plan& plan, Nanos cost, std::uint64_t seed) {
  ASSERT_EQ(plan.cost, cost) << "seed " << seed;
  const Verdict verdict = verify(problem, plan.schedule);
  ASSERT_EQ(verdict.violation, std::nullopt) << "seed " << seed;
  ASSERT_EQ(verdict.cost, cost) << "seed " << seed;
  ASSERT_EQ(verdict.peak, plan.peak) << "seed " << seed;
}

TEST_P(Poet, FindsNothingBetter) {
  std::uint64_t small = 0, feasible = 0, copied = 0;
  for (std::uint64_t seed = 0; seed < GetParam().seeds; ++seed) {
    const Problem problem = with_tier(problem_of(GetParam().make(seed)), seed);
    if (!is_small(problem)) continue;
    ++small;
    const Bytes budget = budget_for(problem, seed);
    const std::optional<Nanos> best = naive_optimum_with_tier(problem, budget, Order::Staged);
    const Answer answer = solve_poet(problem, budget, {.seconds = 60, .threads = 1});
    ASSERT_EQ(answer.outcome, best ? Outcome::Optimal : Outcome::Infeasible) << "seed " << seed;
    if (!best) continue;
    ASSERT_NO_FATAL_FAILURE(expect_right(problem, *answer.plan, *best, seed));
    ASSERT_EQ(answer.bound, *best) << "seed " << seed;
    ++feasible;
    if (copies(*answer.plan)) ++copied;
  }
  EXPECT_GT(small, GetParam().seeds / 6);
  EXPECT_GT(feasible, small / 2);
  EXPECT_GT(copied, feasible / 20);
}

// What is best in any order is best with a few rounds between two first runs.
TEST_P(Poet, FindsWhatIsBestInAnyOrderWithMoreRounds) {
  std::uint64_t small = 0, order_matters = 0;
  for (std::uint64_t seed = 0; seed < GetParam().seeds / 4; ++seed) {
    const Problem problem = with_tier(problem_of(GetParam().make(seed)), seed);
    if (problem.values.size() > 8) continue;
    ++small;
    const Bytes budget = budget_for(problem, seed);
    const std::optional<Nanos> best = naive_optimum_with_tier(problem, budget, Order::Any);
    if (best == naive_optimum_with_tier(problem, budget, Order::Staged)) continue;
    ++order_matters;
    const Answer answer = solve_poet(problem, budget, {.threads = 1, .rounds = 3});
    ASSERT_EQ(answer.outcome, Outcome::Optimal) << "seed " << seed;
    ASSERT_NO_FATAL_FAILURE(expect_right(problem, *answer.plan, *best, seed));
  }
  RecordProperty("order_matters", static_cast<int>(order_matters));
  EXPECT_LE(order_matters, small / 10);
}

// From any state; the tier has copies of some of what was made, also of what is gone.
TEST_P(Poet, FindsNothingBetterForTheRestOfAStep) {
  std::uint64_t feasible = 0, fetched = 0;
  for (std::uint64_t seed = 0; seed < GetParam().seeds / 2; ++seed) {
    Problem problem = rest_of(with_tier(problem_of(GetParam().make(seed)), seed), seed);
    if (!is_small(problem)) continue;
    offload_some(problem, seed);
    const Bytes budget = budget_for(problem, seed);
    const std::optional<Nanos> best = naive_optimum_with_tier(problem, budget, Order::Staged);
    const Answer answer = solve_poet(problem, budget, {.seconds = 60, .threads = 1});
    ASSERT_EQ(answer.outcome, best ? Outcome::Optimal : Outcome::Infeasible) << "seed " << seed;
    if (!best) continue;
    ASSERT_NO_FATAL_FAILURE(expect_right(problem, *answer.plan, *best, seed));
    ++feasible;
    if (copies(*answer.plan)) ++fetched;
  }
  EXPECT_GT(feasible, GetParam().seeds / 20);
  EXPECT_GT(fetched, 0u);
}

TEST_P(Poet, IsCheckmateWithoutATier) {
  for (std::uint64_t seed = 0; seed < GetParam().seeds / 8; ++seed) {
    const LetGo rule = seed % 2 == 0 ? LetGo::Stays : LetGo::StaysIfRemakable;
    const Problem problem = problem_of(GetParam().make(seed), rule);
    const Bytes budget = budget_for(problem, seed);
    const Answer milp = solve_milp(problem, budget, {.threads = 1});
    const Answer poet = solve_poet(problem, budget, {.threads = 1});
    ASSERT_EQ(poet.outcome, milp.outcome) << "seed " << seed;
    if (!milp.plan) continue;
    ASSERT_NO_FATAL_FAILURE(expect_right(problem, *poet.plan, milp.plan->cost, seed));
  }
}

INSTANTIATE_TEST_SUITE_P(Plan, Poet,
                         testing::Values(Kind{"graph", random_graph, seeds(1000)},
                                         Kind{"log", random_log, seeds(1000)},
                                         Kind{"training", random_training, seeds(1000)}),
                         name_of);

}  // namespace
}  // namespace weir::plan::test
