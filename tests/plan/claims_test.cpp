// What a solver claims, against what is known without it.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "plan/answer.h"
#include "plan/rows.h"

namespace weir::plan::test {
namespace {

Answer found_at(Nanos cost, Nanos bound) {
  Answer answer{.plan = Plan{}, .bound = bound};
  answer.plan->cost = cost;
  return answer;
}

TEST(Claims, AreKeptWhereNothingRefutesThem) {
  Answer proven = found_at({10}, {10}), open = found_at({10}, {9});
  settle(proven, {7});
  settle(open, {7});
  EXPECT_EQ(proven.outcome, Outcome::Optimal);
  EXPECT_EQ(open.outcome, Outcome::Feasible);
  EXPECT_EQ(open.bound, Nanos{9});
  EXPECT_FALSE(proven.refuted || open.refuted);
}

TEST(Claims, OfABoundAboveAScheduleAreLeftOut) {
  Answer answer = found_at({10}, {11});
  settle(answer, {7});
  EXPECT_TRUE(answer.refuted);
  EXPECT_EQ(answer.bound, Nanos{7});
  EXPECT_EQ(answer.outcome, Outcome::Feasible);
}

// Sizes of three values over a budget of 15 units; everything away is a solution. HiGHS 1.15 calls
// it infeasible in presolve.
LinearProgram program_called_infeasible() {
  constexpr double kNone = std::numeric_limits<double>::infinity(), kUnit = 1000.0 / 15;
  LinearProgram program;
  for (const double cost : {0.0, 1.0, 2.0, 1.0, 0.0}) program.add_column(cost, 0, 1, true);
  for (const double cost : {3.0, 1.0}) program.add_column(cost, 0, kNone, false);
  const auto add = [&](double least, std::vector<Entry> row, double most) {
    program.add_row(least, row, most);
  };
  add(-kNone, {{0, 1}, {5, -1}}, 0);
  add(-kNone, {{4, 1}, {6, -1}}, 0);
  add(199.999999, {{0, kUnit}, {1, kUnit}, {3, 2 * kUnit}}, kNone);
  add(199.999999, {{0, kUnit}, {1, kUnit}, {2, 6 * kUnit}, {4, 5 * kUnit}}, kNone);
  return program;
}

TEST(Claims, ThatThereIsNoSolutionAreCheckedWithoutPresolve) {
  const Solution solution = solve(program_called_infeasible(), {.threads = 1, .relax = true});
  EXPECT_EQ(solution.outcome, Outcome::Optimal);
  EXPECT_NEAR(solution.cost, 2.4, 1e-4);
  EXPECT_TRUE(solution.refuted);
}

TEST(Claims, ThatThereIsNoSolutionAreBelievedIfBothAgree) {
  LinearProgram program = program_called_infeasible();
  program.upper[3] = 0;
  const Solution solution = solve(program, {.threads = 1, .relax = true});
  EXPECT_EQ(solution.outcome, Outcome::Infeasible);
  EXPECT_FALSE(solution.refuted);
}

}  // namespace
}  // namespace weir::plan::test
