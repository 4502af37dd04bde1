// The policy that scores all candidates once for several choices against the one that does so for
// each: the same replay while there are few candidates, and within six per cent of its time with
// many.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/replay.h"
#include "trace/generate.h"
#include "trace/info.h"

namespace weir {
namespace {

sim::ReplayResult replay(const Trace& trace, const char* policy, double ratio, RestoreOrder order) {
  const auto peak = static_cast<double>(trace::liveness_peak(trace).n);
  return sim::replay(trace, find_policy(policy),
                     {.budget = {static_cast<std::int64_t>(ratio * peak)}, .restore = order});
}

TEST(RankedChoice, IsTheSameOfFewCandidates) {
  std::uint64_t evictions = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Trace trace = seed % 3 == 0   ? trace::training_step(seed, {.steps = 3, .ops = 30})
                        : seed % 3 == 1 ? trace::random_log_trace(seed, {.ops = 60})
                                        : trace::layered_dag(20, 4, seed);
    const double ratio = 0.4 + 0.005 * static_cast<double>(seed);
    for (RestoreOrder order : {RestoreOrder::DepthFirst, RestoreOrder::Lean}) {
      const sim::ReplayResult one = replay(trace, "foresight_online", ratio, order);
      const sim::ReplayResult several = replay(trace, "foresight_ranked", ratio, order);
      EXPECT_EQ(one.status, several.status) << "seed " << seed;
      EXPECT_EQ(one.clock, several.clock) << "seed " << seed;
      EXPECT_EQ(one.counters.evictions, several.counters.evictions) << "seed " << seed;
      evictions += one.counters.evictions;
    }
  }
  EXPECT_GT(evictions, 1000u);
}

TEST(RankedChoice, CostsNearlyTheSameWithMany) {
  const Trace trace = trace::binary_tree(10);
  for (double ratio : {0.4, 0.5, 0.7, 0.9}) {
    const sim::ReplayResult one = replay(trace, "foresight_online", ratio, RestoreOrder::Lean);
    const sim::ReplayResult several = replay(trace, "foresight_ranked", ratio, RestoreOrder::Lean);
    ASSERT_EQ(one.status, sim::Status::Ok) << ratio;
    ASSERT_EQ(several.status, sim::Status::Ok) << ratio;
    EXPECT_LE(std::abs(std::log(several.slowdown() / one.slowdown())), std::log(1.06)) << ratio;
    EXPECT_LT(several.counters.scored, one.counters.scored / 3) << ratio;
  }
}

}  // namespace
}  // namespace weir
