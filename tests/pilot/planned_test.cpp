#include <gtest/gtest.h>

#include "pilot/guide.h"
#include "sim/replay.h"
#include "steps.h"
#include "trace/generate.h"
#include "trace/info.h"
#include "weir/registry.h"

namespace weir::pilot {
namespace {

constexpr double kShares[] = {0.8, 0.65, 0.55};

sim::ReplayResult run(const Trace& trace, std::string_view policy, Bytes budget) {
  const sim::ReplayResult result =
      sim::replay(trace, find_policy(policy), {.budget = budget, .limit = 50.0});
  EXPECT_EQ(result.status, sim::Status::Ok);
  EXPECT_LE(result.peak, budget);
  return result;
}

// What the last of these steps adds to its own time.
std::int64_t last_of(const std::vector<Step>& steps, std::string_view policy, Bytes budget) {
  const std::vector<Step> before(steps.begin(), steps.end() - 1);
  return (run(training(steps), policy, budget).recompute -
          run(training(before), policy, budget).recompute)
      .n;
}

Bytes share_of_peak(const std::vector<Step>& steps, double share) {
  const Bytes peak = trace::liveness_peak(training(steps));
  return {static_cast<std::int64_t>(share * static_cast<double>(peak.n))};
}

TEST(Planned, CostsLessThanTheOnlinePolicyOnceItHasAPlan) {
  const std::vector<Step> steps(4);
  std::int64_t online = 0, planned = 0;
  for (double share : kShares) {
    const Bytes budget = share_of_peak(steps, share);
    online += last_of(steps, "h_dtr_eq_indexed", budget);
    planned += last_of(steps, "planned", budget);
  }
  EXPECT_LT(planned, online);
}

TEST(Planned, CostsNoMoreThanThePlanSays) {
  const std::vector<Step> steps(4);
  const StepLog step = logs_of(training(steps))[1];
  for (double share : kShares) {
    const Bytes budget = share_of_peak(steps, share);
    const std::optional<Guide> guide = Guide::make(step, {budget, {budget.n / 128}});
    ASSERT_TRUE(guide) << share;
    EXPECT_LE(last_of(steps, "planned", budget), guide->added().n) << share;
  }
}

// Also where little memory is left and plans are bad: those are given up.
TEST(Planned, NeverCostsMoreThanTheOnlinePolicyInTheEnd) {
  for (std::uint32_t layers = 4; layers <= 24; layers += 4) {
    const std::vector<Step> steps(7, Step{.layers = layers});
    for (double share = 0.5; share < 1; share += 0.04) {
      const Bytes budget = share_of_peak(steps, share);
      if (sim::replay(training(steps), find_policy("h_dtr_eq_indexed"),
                      {.budget = budget, .limit = 50.0})
              .status != sim::Status::Ok)
        continue;
      EXPECT_LE(last_of(steps, "planned", budget), last_of(steps, "h_dtr_eq_indexed", budget))
          << layers << ' ' << share;
    }
  }
}

TEST(Planned, IsTheOnlinePolicyUntilThen) {
  const std::vector<Step> steps(2);
  for (double share : kShares) {
    const Bytes budget = share_of_peak(steps, share);
    EXPECT_EQ(run(training(steps), "planned", budget).recompute,
              run(training(steps), "h_dtr_eq_indexed", budget).recompute);
  }
}

TEST(Planned, ComesBackAfterAStepThatDiffers) {
  const std::vector<Step> known(4), left = {{}, {}, {}, {.extra = 6}, {}};
  for (double share : kShares) {
    const Bytes budget = share_of_peak(known, share);
    EXPECT_EQ(last_of(left, "planned", budget), last_of(known, "planned", budget)) << share;
  }
}

TEST(Planned, HasAPlanForEachOfTwoKinds) {
  const Step a, b{.layers = 20};
  const std::vector<Step> turns = {a, b, a, b, a, b, a, b}, only_b = {a, b, b, b};
  for (double share : kShares) {
    const Bytes budget = share_of_peak(turns, share);
    EXPECT_EQ(last_of(turns, "planned", budget), last_of(only_b, "planned", budget)) << share;
  }
}

// Steps that all differ: plans are made in vain, and not many.
TEST(Planned, HoldsTheBudgetWhenNothingRepeats) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Trace trace = trace::training_step(seed, {.steps = 5});
    const Bytes peak = trace::liveness_peak(trace);
    for (double share : kShares) {
      const Bytes budget{static_cast<std::int64_t>(share * static_cast<double>(peak.n))};
      const sim::ReplayResult result =
          sim::replay(trace, find_policy("planned"), {.budget = budget, .limit = 50.0});
      EXPECT_LE(result.peak, budget) << seed;
    }
  }
}

}  // namespace
}  // namespace weir::pilot
