#include "cost/cpu_kernels.h"

#include <gtest/gtest.h>

#include "cost/curve.h"
#include "cost/tiles.h"

namespace weir::cost::test {
namespace {

constexpr std::int64_t kKiB = 1024;

// Two operands of 4 MiB read twice, the second time to make a third: as the gradient of a norm.
Step two_passes(std::int64_t parts) {
  Step step;
  step.items.assign(3, {StorageId{0}, {4096 * kKiB}});
  step.accesses = {{0, true}, {1, true}, {0, true}, {1, true}, {2, false, true}};
  step.ops = {{.kernel = Kernel::Norm, .cpu = {.parts = parts}}};
  step.sweeps = {{0, 0, 2}, {0, 2, 3}};
  return step;
}

double read_by(const Step& step, double capacity) {
  return MissCurve{step, reuse_of(step, Blocks{step})}.at(capacity).read;
}

TEST(CpuKernels, FindAPartAgainThatFits) {
  Step step = two_passes(64);  // two parts of 64 KiB, and then three
  const double once = 8192 * kKiB;
  EXPECT_EQ(read_by(step, 1024 * kKiB), 2 * once);
  run_on_cpu(step);
  EXPECT_EQ(read_by(step, 1024 * kKiB), once);
  EXPECT_EQ(read_by(step, 64 * kKiB), 2 * once);
}

TEST(CpuKernels, MakeCopiesAndReadThoseThatDidNotStay) {
  const CpuKernel kernel{.copies = {{1000}, {500}}};
  EXPECT_EQ(copy_bytes(kernel, 2000, 4000), 1500);
  EXPECT_EQ(copy_bytes(kernel, 2000, 3000), 3000);
  EXPECT_EQ(copy_bytes({}, 2000, 3000), 0);
}

// Counted by cachegrind for 8 heads of 1024 x 64, beside the 8.4 MB that pass once.
TEST(CpuKernels, OfAttentionMoveScoresAndKeysThatDoNotStay) {
  const Gemm scores{.batch = 8, .m = 1024, .n = 1024, .k = 64, .fused = true};
  EXPECT_NEAR(attention_bytes(scores, 4, 256 * kKiB), 153.7e6, 0.1 * 153.7e6);
  EXPECT_NEAR(attention_bytes(scores, 4, 1024 * kKiB), 15.1e6, 0.15 * 15.1e6);
  EXPECT_NEAR(attention_bytes(scores, 4, 4096 * kKiB), 0.7e6, 0.2 * 0.7e6);
}

}  // namespace
}  // namespace weir::cost::test
