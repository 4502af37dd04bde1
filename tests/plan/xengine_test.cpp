// XEngine's model against trying everything, on small random traces and two devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plan/device_verify.h"
#include "plan/milp.h"
#include "plan/naive_devices.h"
#include "plan/random_problem.h"
#include "plan/xengine.h"
#include "trace/graph_program.h"
#include "weir/errors.h"

namespace weir::plan::test {
namespace {

struct Kind {
  const char* name;
  Trace (*make)(std::uint64_t seed);
  std::uint64_t seeds;
};

std::string name_of(const testing::TestParamInfo<Kind>& info) { return info.param.name; }

bool has_versions(const Problem& problem) {
  return std::ranges::any_of(problem.values, [](const Value& value) {
    return value.change_of != kNoValue || value.view_of != kNoValue;
  });
}

class Xengine : public testing::TestWithParam<Kind> {
 protected:
  struct Sample {
    std::uint64_t seed;
    Problem problem;
    Devices devices;
  };

  static std::vector<Sample> samples(std::size_t most_values) {
    std::vector<Sample> result;
    for (std::uint64_t seed = 0; seed < GetParam().seeds; ++seed) {
      Problem problem = problem_of(GetParam().make(seed));
      if (problem.values.size() > most_values || has_versions(problem)) continue;
      Devices devices = random_devices(problem, seed);
      result.push_back({seed, std::move(problem), std::move(devices)});
    }
    return result;
  }
};

std::size_t count(const DevicePlan& plan, DeviceMove move) {
  return static_cast<std::size_t>(
      std::ranges::count(plan.schedule.actions, move, &DeviceAction::move));
}

Devices alone(const Devices& devices, std::uint32_t which) {
  return {.all = {devices.all[which]}, .lanes = {std::nullopt}};
}

Devices with_budgets(Devices devices, const std::vector<Bytes>& budgets) {
  for (std::uint32_t i = 0; i < devices.count(); ++i) devices.all[i].budget = budgets[i];
  return devices;
}

void expect_right(const Problem& problem, const Devices& devices, const DevicePlan& plan,
                  Nanos cost) {
  ASSERT_EQ(plan.cost, cost);
  const DeviceVerdict verdict = verify(problem, devices, plan.schedule);
  ASSERT_EQ(verdict.violation, std::nullopt);
  ASSERT_EQ(verdict.cost, cost);
  for (std::uint32_t i = 0; i < devices.count(); ++i) {
    ASSERT_LE(verdict.peaks[i], plan.peaks[i]);
    ASSERT_LE(plan.peaks[i], devices.all[i].budget);
  }
}

TEST_P(Xengine, FindsNothingBetter) {
  std::size_t all = 0, feasible = 0, copied = 0, ran_again = 0;
  for (const auto& [seed, problem, devices] : samples(6)) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::optional<Nanos> best = naive_optimum_on_two(problem, devices, Order::Staged);
    const DeviceAnswer answer = solve_xengine(problem, devices, {.seconds = 60, .threads = 1});
    ++all;
    ASSERT_EQ(answer.outcome, best ? Outcome::Optimal : Outcome::Infeasible);
    if (!best) continue;
    ASSERT_NO_FATAL_FAILURE(expect_right(problem, devices, *answer.plan, *best));
    ASSERT_EQ(answer.bound, *best);
    ++feasible;
    copied += count(*answer.plan, DeviceMove::Copy) > 0 ? 1u : 0u;
    ran_again += count(*answer.plan, DeviceMove::Compute) > problem.ops.size() ? 1u : 0u;
  }
  RecordProperty("all", static_cast<int>(all));
  RecordProperty("feasible", static_cast<int>(feasible));
  RecordProperty("copied", static_cast<int>(copied));
  RecordProperty("ran_again", static_cast<int>(ran_again));
  EXPECT_GT(all, GetParam().seeds / 8);
  EXPECT_GT(feasible, all / 2);
  EXPECT_LT(feasible, all);
  EXPECT_GT(copied, feasible / 4);
  EXPECT_GT(ran_again, feasible / 20);
}

// The order of the model is that of the trace in each stage; another is seldom better.
TEST_P(Xengine, IsSeldomBeatenByAnotherOrder) {
  std::size_t all = 0, order_matters = 0;
  for (const auto& [seed, problem, devices] : samples(6)) {
    const std::optional<Nanos> staged = naive_optimum_on_two(problem, devices, Order::Staged);
    const std::optional<Nanos> any = naive_optimum_on_two(problem, devices, Order::Any);
    ++all;
    ASSERT_TRUE(!staged || *any <= *staged) << "seed " << seed;
    order_matters += any != staged ? 1u : 0u;
  }
  RecordProperty("all", static_cast<int>(all));
  RecordProperty("order_matters", static_cast<int>(order_matters));
  EXPECT_LT(order_matters, all / 10);
}

TEST_P(Xengine, IsCheckmateOnOneDevice) {
  std::size_t feasible = 0;
  for (const auto& [seed, problem, devices] : samples(8)) {
    if (seed % 4 != 0) continue;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Bytes budget = budget_for(problem, seed / 4);
    Devices one = with_budgets(alone(devices, 0), {budget});
    for (std::uint32_t op = 0; op < problem.end(); ++op)
      one.all[0].costs[op] = problem.ops[op].cost;
    const Answer milp = solve_milp(problem, budget, {.threads = 1});
    const DeviceAnswer answer = solve_xengine(problem, one, {.threads = 1});
    ASSERT_EQ(answer.outcome, milp.outcome);
    if (!milp.plan) continue;
    ASSERT_NO_FATAL_FAILURE(expect_right(problem, one, *answer.plan, milp.plan->cost));
    ++feasible;
  }
  EXPECT_GT(feasible, GetParam().seeds / 20);
}

TEST_P(Xengine, SaysWhichBudgetsWouldDo) {
  std::size_t infeasible = 0;
  for (const auto& [seed, problem, devices] : samples(6)) {
    if (naive_optimum_on_two(problem, devices, Order::Staged)) continue;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    ++infeasible;
    const auto smallest = smallest_share(problem, devices, {.threads = 1});
    ASSERT_TRUE(smallest);
    EXPECT_GT(smallest->share, 1);
    EXPECT_EQ(smallest->bound, smallest->share);
    const Devices enough = with_budgets(devices, smallest->budgets);
    EXPECT_TRUE(naive_optimum_on_two(problem, enough, Order::Staged));
    std::vector<Bytes> less;
    for (const DeviceSpec& device : devices.all)
      less.push_back(
          {std::llround(std::ceil(static_cast<double>(device.budget.n) * smallest->share - 1e-9)) -
           1});
    EXPECT_FALSE(naive_optimum_on_two(problem, with_budgets(devices, less), Order::Staged));
  }
  EXPECT_GT(infeasible, 5u);
}

INSTANTIATE_TEST_SUITE_P(Plan, Xengine,
                         testing::Values(Kind{"graph", random_graph, seeds(800)},
                                         Kind{"log", random_log, seeds(2000)}),
                         name_of);

TEST(XengineTogether, HoldsWhatNeitherDeviceCouldHoldAlone) {
  std::size_t together = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Problem problem = problem_of(random_log(seed));
    if (problem.values.size() > 6 || has_versions(problem)) continue;
    const Devices devices = random_devices(problem, seed);
    const auto outcome = [&](const Devices& on) {
      return solve_xengine(problem, on, {.threads = 1}).outcome;
    };
    if (outcome(alone(devices, 0)) != Outcome::Infeasible ||
        outcome(alone(devices, 1)) != Outcome::Infeasible)
      continue;
    together += outcome(devices) == Outcome::Optimal ? 1u : 0u;
  }
  EXPECT_GT(together, 3u);
}

// Each of two devices has what the other one is to read, and no room for both.
TEST(XengineTogether, CannotSwapWithoutRoom) {
  const std::vector<trace::GraphNode> nodes{{"here", Phase::Forward, {1}, {3}, {}},
                                            {"there", Phase::Forward, {1}, {3}, {}},
                                            {"reads_there", Phase::Forward, {1}, {1}, {1}},
                                            {"reads_here", Phase::Forward, {1}, {1}, {0}}};
  const std::vector<std::uint32_t> order{0, 1, 2, 3};
  const Problem problem = problem_of(trace::program_of(nodes, order, ViewRule::Rerun, "swap"));
  Devices devices{.all = {{"one", {4}, {{4}, {9}, {0}, {50}}}, {"two", {4}, {{9}, {4}, {50}, {0}}}},
                  .lanes = {std::nullopt, Lane{{1}, 1e6}, Lane{{1}, 1e6}, std::nullopt}};
  const auto cost = [&] {
    const DeviceAnswer answer = solve_xengine(problem, devices, {.threads = 1});
    EXPECT_EQ(answer.outcome, Outcome::Optimal);
    EXPECT_EQ(answer.plan ? std::optional{answer.plan->cost} : std::nullopt,
              naive_optimum_on_two(problem, devices, Order::Staged));
    return answer.bound;
  };
  EXPECT_EQ(cost(), Nanos{14});  // one is copied, the other made again and copied
  devices.all[0].budget = {7};
  EXPECT_EQ(cost(), Nanos{10});
}

TEST(XengineInput, IsAGraphWithoutVersions) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Problem problem = problem_of(random_training(seed));
    if (!has_versions(problem)) continue;
    EXPECT_THROW((void)solve_xengine(problem, random_devices(problem, seed), {}), BadInput);
    return;
  }
  FAIL() << "no trace with versions";
}

}  // namespace
}  // namespace weir::plan::test
