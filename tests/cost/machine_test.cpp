#include "cost/machine.h"

#include <gtest/gtest.h>

namespace weir::cost::test {
namespace {

const Machine kMachine{.bytes_per_nano = 10,
                       .flops_per_nano = 4,
                       .dtypes = {{"bfloat16", 8}},
                       .ops = {{"aten::relu", 5}},
                       .memory_ops = {{"aten::relu", 2}},
                       .products = {{"aten::mm", {.m = 64, .n = 64, .k = 64}, 10},
                                    {"aten::mm", {.m = 1024, .n = 1024, .k = 1024}, 100}}};

double mm_of(std::int64_t side, std::string_view dtype = "float32") {
  const Gemm gemm{.m = side, .n = side, .k = side};
  const StepOp op{.kernel = Kernel::Matmul, .flops = 1000, .gemms = {gemm}};
  return kMachine.compute(op, "aten::mm", dtype, 1);
}

TEST(Machine, TakesOpsByNameBeforeTheirKernel) {
  const StepOp op{.kernel = Kernel::Elementwise, .flops = 1000};
  EXPECT_DOUBLE_EQ(kMachine.compute(op, "aten::relu", "float32", 500), 100);
  EXPECT_DOUBLE_EQ(kMachine.compute(op, "aten::add", "float32", 500), 250);
}

TEST(Machine, TakesWhatAnOpGetsFromMemoryBeforeTheBandwidth) {
  EXPECT_DOUBLE_EQ(kMachine.bytes_per_nano_of("aten::relu"), 2);
  EXPECT_DOUBLE_EQ(kMachine.bytes_per_nano_of("aten::add"), 10);
}

TEST(Machine, FindsProductsBetweenThoseMeasured) {
  EXPECT_NEAR(mm_of(64), 1000 / 10.0, 1);
  EXPECT_NEAR(mm_of(1024), 1000 / 100.0, 0.1);
  EXPECT_LT(mm_of(512), mm_of(256));
  EXPECT_LT(mm_of(256), mm_of(128));
  EXPECT_NEAR(mm_of(256), 1000 / std::sqrt(10.0 * 100.0), 0.01);  // as far from both
  EXPECT_DOUBLE_EQ(mm_of(256, "bfloat16"), mm_of(256) / 2);
}

TEST(Machine, TakesTheKernelOfProductsThatWereNotMeasured) {
  const StepOp op{.kernel = Kernel::Matmul, .flops = 1000, .gemms = {Gemm{.m = 8, .n = 8, .k = 8}}};
  EXPECT_DOUBLE_EQ(kMachine.compute(op, "aten::bmm", "float32", 1), 250);
}

}  // namespace
}  // namespace weir::cost::test
