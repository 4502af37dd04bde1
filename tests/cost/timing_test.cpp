#include "cost/timing.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/rng.h"
#include "cost/nets.h"

namespace weir::cost::test {
namespace {

TEST(Timing, TakesTheSlowerOfComputingAndMoving) {
  const OpTime ops[] = {{.compute = 10, .reads = 4, .writes = 1},
                        {.compute = 2, .inside = 3, .reads = 5}};
  const Timing timing = time_of(ops, {7}, 0);
  EXPECT_DOUBLE_EQ(timing.serial, 10 + 8 + 2 * 7);
  EXPECT_DOUBLE_EQ(timing.computing, 12);
}

TEST(Timing, AddsWhatComesBeforeAnOp) {
  const OpTime ops[] = {{.compute = 10, .reads = 4, .before = 3}, {.reads = 5, .before = 2}};
  const Timing timing = time_of(ops, {7}, 0);
  EXPECT_DOUBLE_EQ(timing.serial, 3 + 10 + 2 + 5 + 2 * 7);
  EXPECT_DOUBLE_EQ(timing.computing, 10);
  EXPECT_DOUBLE_EQ(timing.prefetched, 4 + 3 + 10 + 7 + 5 + 2 + 7);
}

TEST(Timing, SaysWhatBoundsAnOp) {
  const OpTime op{.compute = 10, .inside = 6, .reads = 3, .writes = 1};
  EXPECT_EQ(op.bound({10}), Bound::Compute);  // of equals the first
  EXPECT_EQ(op.bound({11}), Bound::Latency);
  EXPECT_EQ((OpTime{.compute = 10, .before = 9}.bound({1})), Bound::Compute);
  EXPECT_EQ((OpTime{.compute = 10, .before = 9}.bound({2})), Bound::Latency);
  EXPECT_EQ((OpTime{.compute = 9, .inside = 6, .reads = 3, .writes = 1}.bound({})), Bound::Cache);
  EXPECT_EQ((OpTime{.compute = 9, .inside = 5, .reads = 3, .writes = 2}.bound({})), Bound::Memory);
}

TEST(Timing, WithoutLookAheadWaitsForEveryOperand) {
  const OpTime ops[] = {{.compute = 10, .reads = 4}, {.compute = 10, .reads = 6}};
  const Timing timing = time_of(ops, {}, 0);
  EXPECT_EQ(timing.stalls, (std::vector<double>{4, 6}));
  EXPECT_DOUBLE_EQ(timing.prefetched, 30);
}

TEST(Timing, WithLookAheadHidesWhatFits) {
  const OpTime ops[] = {
      {.compute = 10, .reads = 4}, {.compute = 10, .reads = 6}, {.compute = 1, .reads = 30}};
  const Timing one = time_of(ops, {}, 1);
  EXPECT_EQ(one.stalls, (std::vector<double>{4, 0, 20}));  // the third comes from 14 to 44
  const Timing two = time_of(ops, {}, 2);
  EXPECT_EQ(two.stalls, (std::vector<double>{4, 0, 16}));  // from 10 to 40
}

TEST(Timing, LetsWritesDelayReads) {
  const OpTime ops[] = {{.compute = 10, .writes = 50}, {.compute = 1}, {.compute = 1, .reads = 5}};
  EXPECT_EQ(time_of(ops, {}, 1).stalls, (std::vector<double>{0, 0, 54}));
  const OpTime alone[] = {{.compute = 10, .writes = 50}};
  EXPECT_DOUBLE_EQ(time_of(alone, {}, 1).prefetched, 60);  // the step ends when all is written
}

TEST(Timing, IsBetweenPerfectOverlapAndNone) {
  base::Rng rng{5};
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<OpTime> ops(1 + rng.below(30));
    double computing = 0, moving = 0;
    for (OpTime& op : ops) {
      op = {.compute = static_cast<double>(rng.below(100)),
            .reads = static_cast<double>(rng.below(100)),
            .writes = static_cast<double>(rng.below(50))};
      computing += op.compute;
      moving += op.reads + op.writes;
    }
    double before = std::numeric_limits<double>::infinity();
    for (const std::uint32_t look_ahead : {0u, 1u, 2u, 5u, 100u}) {
      const Timing timing = time_of(ops, {}, look_ahead);
      EXPECT_GE(timing.prefetched, std::max(computing, moving) - 1e-9);
      EXPECT_LE(timing.prefetched, computing + moving + 1e-9);
      if (look_ahead == 0) before = timing.prefetched;
    }
    EXPECT_LE(time_of(ops, {}, 100).prefetched, before + 1e-9);
  }
}

TEST(Bandwidth, ForATimeReachesIt) {
  const OpTime ops[] = {{.compute = 10, .reads = 4, .writes = 4}, {.compute = 2, .reads = 30}};
  const auto needed =
      bandwidth_for(25, ops, {}, 100.0);  // 10 and 15: the second at twice the speed
  ASSERT_TRUE(needed);
  EXPECT_NEAR(*needed, 200, 1e-6);
  EXPECT_FALSE(bandwidth_for(11, ops, {}, 100.0));  // computing alone takes 12
}

TEST(Machine, HasRatesOfKernelsAndTypes) {
  Machine machine{.flops_per_nano = 10, .dtypes = {{"float16", 40}}};
  machine.kernel_flops_per_nano[static_cast<std::size_t>(Kernel::Matmul)] = 8;
  EXPECT_EQ(machine.rate(Kernel::Norm, "float32"), 10);
  EXPECT_EQ(machine.rate(Kernel::Matmul, "float32"), 8);
  EXPECT_EQ(machine.rate(Kernel::Matmul, "float16"), 32);
}

// What a smaller cache passes on, the next one gets; memory gets what the largest passes on.
TEST(OpTimes, CountEveryByteAtOneLevel) {
  const Step step = resnet50(2, 4).step;
  const Reuse reuse = reuse_of(step, Blocks{step});
  const Trace trace;
  const auto moved = [&](std::vector<CacheLevel> caches) {
    const Machine machine{.caches = std::move(caches), .bytes_per_nano = 1, .flops_per_nano = 1};
    double sum = 0, memory = 0;
    for (const OpTime& op : op_times(trace, step, reuse, nullptr, machine)) {
      sum += op.inside + op.reads + op.writes;
      memory += op.reads + op.writes;
    }
    return std::pair{sum, memory};
  };
  const auto [all_one, memory_one] = moved({{{1 << 22}, 1}});
  const auto [all_two, memory_two] = moved({{{1 << 18}, 1}, {{1 << 22}, 1}});
  EXPECT_NEAR(all_one, all_two, 1e-6 * all_one);
  EXPECT_EQ(memory_one, memory_two);
  EXPECT_LT(memory_one, all_one);
}

}  // namespace
}  // namespace weir::cost::test
