// Schedules that run each op so many times at most: the model against trying everything, against
// the MILP without that limit, and on Checkmate's graphs.
#include <gtest/gtest.h>

#include <string>

#include <fmt/format.h>

#include "base/units.h"
#include "golden/table.h"
#include "plan/checkpoints.h"
#include "plan/fast.h"
#include "plan/intervals.h"
#include "plan/methods.h"
#include "plan/milp.h"
#include "plan/naive.h"
#include "plan/random_problem.h"
#include "plan/verify.h"
#include "trace/generate.h"
#include "trace/reader.h"

namespace weir::plan::test {
namespace {

using Make = Trace (*)(std::uint64_t seed);
struct Kind {
  const char* name;
  Make make;
  std::uint64_t seeds;
};

std::string name_of(const testing::TestParamInfo<Kind>& info) { return info.param.name; }

MethodOptions with(std::uint32_t intervals) {
  return {.seconds = 60, .threads = 1, .intervals = intervals};
}

void expect_kept(const Problem& problem, Bytes budget, const Answer& answer,
                 std::uint32_t intervals, const std::string& where) {
  const Verdict verdict = verify(problem, answer.plan->schedule);
  EXPECT_EQ(verdict.violation, std::nullopt) << where;
  EXPECT_EQ(verdict.cost, answer.plan->cost) << where;
  EXPECT_EQ(verdict.peak, answer.plan->peak) << where;
  EXPECT_LE(verdict.peak, budget) << where;
  EXPECT_LE(most_runs_of_an_op(problem, answer.plan->schedule), intervals) << where;
}

struct Seen {
  int feasible = 0, infeasible = 0, dearer = 0;
  int limited = 0;  // that cost more with one interval less
};

class Intervals : public testing::TestWithParam<Kind> {
 protected:
  void compare(const Problem& problem, std::uint64_t seed) {
    if (problem.values.size() > 12 || problem.ops.size() > 16) return;
    const Bytes budget = budget_for(problem, seed);
    std::optional<Nanos> fewer;
    for (const std::uint32_t intervals : {1u, 2u, 3u}) {
      const std::string where = fmt::format("seed {}, {} intervals", seed, intervals);
      const std::optional<Nanos> best = naive_optimum_with_runs(problem, budget, intervals);
      const Answer answer = solve_intervals(problem, budget, with(intervals));
      ASSERT_EQ(answer.outcome, best ? Outcome::Optimal : Outcome::Infeasible) << where;
      ++(best ? seen_.feasible : seen_.infeasible);
      if (!best) continue;
      ASSERT_EQ(answer.plan->cost, *best) << where;
      ASSERT_EQ(answer.bound, *best) << where;
      expect_kept(problem, budget, answer, intervals, where);
      if (*best > cost_without_budget(problem)) ++seen_.dearer;
      if (intervals > 1 && fewer != best) ++seen_.limited;
      fewer = best;
    }
  }

  Seen seen_;
};

TEST_P(Intervals, AreTheBestOfAllSchedulesWithSoManyRuns) {
  for (std::uint64_t seed = 0; seed < GetParam().seeds; ++seed) {
    compare(problem_of(GetParam().make(seed)), seed);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(seen_.feasible, static_cast<int>(GetParam().seeds));
  EXPECT_GT(seen_.infeasible, seen_.feasible / 50);
  EXPECT_GT(seen_.dearer, seen_.feasible / 50);
  EXPECT_GT(seen_.limited, seen_.feasible / 50);
}

TEST_P(Intervals, AreTheBestForTheRestOfAStep) {
  for (std::uint64_t seed = 0; seed < GetParam().seeds / 2; ++seed) {
    compare(rest_of(problem_of(GetParam().make(seed)), seed), seed);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(seen_.feasible, static_cast<int>(GetParam().seeds / 4));
  EXPECT_GT(seen_.dearer, seen_.feasible / 50);
}

// Which is the MILP's optimum as soon as that runs no op more often, and never below it.
TEST_P(Intervals, AreTheMilpWhenThereAreEnough) {
  int equal = 0, limited = 0;
  for (std::uint64_t seed = 0; seed < GetParam().seeds; ++seed) {
    const Problem problem = problem_of(GetParam().make(seed));
    const Bytes budget = floor_of(problem).budget;
    const Answer milp = solve_milp(problem, budget, {.seconds = 60, .threads = 1});
    if (!milp.plan) continue;
    const std::uint32_t enough = most_runs_of_an_op(problem, milp.plan->schedule);
    const Answer same = solve_intervals(problem, budget, with(enough));
    ASSERT_EQ(same.outcome, Outcome::Optimal) << "seed " << seed;
    ASSERT_EQ(same.plan->cost, milp.plan->cost) << "seed " << seed;
    ++equal;
    if (enough == 1) continue;
    const Answer fewer = solve_intervals(problem, budget, with(enough - 1));
    if (!fewer.plan || fewer.plan->cost > milp.plan->cost) ++limited;
    if (!fewer.plan) continue;
    ASSERT_GE(fewer.plan->cost, milp.bound) << "seed " << seed;
    ASSERT_GE(fewer.bound, milp.bound) << "seed " << seed;
  }
  EXPECT_GT(equal, static_cast<int>(GetParam().seeds / 2));
  EXPECT_GT(limited, equal / 20);
}

INSTANTIATE_TEST_SUITE_P(Plan, Intervals,
                         testing::Values(Kind{"graph", random_graph, seeds(600)},
                                         Kind{"log", random_log, seeds(400)},
                                         Kind{"training", random_training, seeds(400)}),
                         name_of);

// A chain in three bytes runs its first ops again and again.
TEST(IntervalLimit, LeavesNoScheduleWhereOpsMustRunOften) {
  const Problem problem = problem_of(trace::linear_chain(8));
  const Bytes floor = floor_of(problem).budget;
  EXPECT_EQ(solve_intervals(problem, floor, with(2)).outcome, Outcome::Infeasible);
  const Answer milp = solve_milp(problem, floor, {.threads = 1});
  ASSERT_TRUE(milp.plan);
  const std::uint32_t most = most_runs_of_an_op(problem, milp.plan->schedule);
  EXPECT_GT(most, 2u);
  EXPECT_EQ(solve_intervals(problem, floor, with(most)).plan->cost, milp.plan->cost);
}

TEST(IntervalLimit, DoesNotTakeAGuessThatRunsAnOpMoreOften) {
  const Problem problem = problem_of(trace::linear_chain(8));
  const Bytes floor = floor_of(problem).budget;
  const std::optional<Stays> fast = plan_fast(problem, floor);
  ASSERT_TRUE(fast);
  ASSERT_LE(fast->plan(floor).peak, floor);
  const Answer answer = solve_intervals(problem, floor, with(2), fast->retention());
  EXPECT_EQ(answer.outcome, Outcome::Infeasible);
  EXPECT_FALSE(answer.plan);
}

struct Case {
  const char* graph;
  const char* ratio;
  std::uint32_t intervals;
  const char* slowdown;  // to four digits
};

class IntervalOptimum : public testing::TestWithParam<Case> {};

TEST_P(IntervalOptimum, IsProven) {
  const auto file =
      golden::data_file(std::string("checkmate-graphs/") + GetParam().graph + ".json");
  if (!file) GTEST_SKIP() << golden::kNoData;
  const Problem problem = problem_of(trace::read_trace(*file));
  const Bytes budget = base::parse_budget(GetParam().ratio).resolve(problem.peak);
  const Answer answer =
      find_method("intervals")
          .plan(problem, budget, {.seconds = 120, .threads = 2, .intervals = GetParam().intervals});
  ASSERT_TRUE(answer.plan);
  EXPECT_EQ(answer.outcome, Outcome::Optimal);
  EXPECT_EQ(answer.bound, answer.plan->cost);
  EXPECT_EQ(fmt::format("{:.4f}", answer.plan->slowdown(problem)), GetParam().slowdown);
  expect_kept(problem, budget, answer, GetParam().intervals, GetParam().graph);
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return golden::plain(
      fmt::format("{}_{}_{}", info.param.graph, info.param.ratio, info.param.intervals));
}

// All but the last are the optima without a limit (optimum_test).
INSTANTIATE_TEST_SUITE_P(Checkmate, IntervalOptimum,
                         testing::Values(Case{"vgg16-256", "0.9x", 2, "1.0197"},
                                         Case{"unet-32", "0.9x", 2, "1.0113"},
                                         Case{"unet-32", "0.7x", 2, "1.0297"},
                                         Case{"unet-32", "0.5x", 2, "1.0697"},
                                         Case{"mobilenet-512", "0.5x", 2, "1.0163"},
                                         Case{"unet-32", "0.4x", 2, "1.1347"}),
                         case_name);

}  // namespace
}  // namespace weir::plan::test
