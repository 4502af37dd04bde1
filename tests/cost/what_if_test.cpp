#include "cost/what_if.h"

#include <gtest/gtest.h>

#include "cost/curve.h"
#include "cost/naive_cache.h"
#include "cost/nets.h"
#include "cost/tensor_lru.h"
#include "trace/builder.h"

namespace weir::cost::test {
namespace {

MissCurve curve_of(const Step& step) { return {step, reuse_of(step, Blocks{step})}; }

TEST(SubBatches, HalveTheTrafficOfResNet50) {
  const Made made = resnet50(32, 2);
  constexpr double kCache = 10.0 * 1048576;
  const double whole = TensorLru{made.step}.at(kCache);
  // Samples at a time and GB, as published. There, the first part adds to gradients as well, and
  // so reads them once more.
  double gradients = 0;
  for (std::size_t i = 0; i < made.step.items.size(); ++i)
    if (made.step.items[i].lasts && !made.batched[i])
      gradients += static_cast<double>(made.step.items[i].bytes.n) / 2;  // weights and momenta
  for (const auto& [samples, gigabytes] :
       {std::pair{1u, 9.64}, std::pair{2u, 7.22}, std::pair{4u, 7.87}, std::pair{8u, 10.67}}) {
    const Step step = in_parts(made.step, made.batched, 32 / samples);
    EXPECT_NEAR((TensorLru{step}.at(kCache) + gradients) / 1e9, gigabytes, 0.00501) << samples;
  }
  const Step two = in_parts(made.step, made.batched, 16);
  EXPECT_LE(TensorLru{two}.at(kCache), 0.5 * whole);
  EXPECT_LE(curve_of(two).at(kCache).total(), 0.503 * curve_of(made.step).at(kCache).total());
}

TEST(SubBatches, ReadAndWriteTheBatchAsOftenAsBefore) {
  Made made = resnet50(8, 4);
  for (StepOp& op : made.step.ops) op.fresh = {4096};
  const Step parts = in_parts(made.step, made.batched, 4);
  double weights = 0;  // of forward and backward: once more for each part, sums read as well
  for (const Sweep& sweep : made.step.sweeps) {
    if (made.step.ops[sweep.op].phase == Phase::Optimizer) continue;
    for (const Access& access : made.step.accesses_of(sweep))
      if (!made.batched[access.item])
        weights +=
            static_cast<double>(made.step.items[access.item].bytes.n) * (access.write ? 2.0 : 1.0);
  }
  EXPECT_NEAR(curve_of(parts).no_reuse(), curve_of(made.step).no_reuse() + 3 * weights, 1e3);
  std::int64_t before = 0, after = 0;
  for (const StepOp& op : made.step.ops) before += op.flops;
  for (const StepOp& op : parts.ops) after += op.flops;
  EXPECT_EQ(before, after);
  Bytes fresh{};
  for (const StepOp& op : parts.ops) fresh += op.fresh;
  EXPECT_EQ(fresh, Bytes{4096 * static_cast<std::int64_t>(made.step.ops.size())});
}

TEST(SubBatches, AreFoundByTheFirstDimension) {
  trace::TraceBuilder builder{ViewRule::Keep, "made"};
  const std::int64_t data[] = {8, 100}, weight[] = {16, 100}, ones[] = {100, 1};
  const TensorId x = builder.constant({3200}, {"float32", data, ones});
  const TensorId w = builder.constant({6400}, {"float32", weight, ones});
  const trace::Output out{.size = {3200}, .layout = {"float32", data, ones}};
  const TensorId in[] = {x, w};
  const TensorId y = builder.op({.name = "mm", .inputs = in, .outputs = {&out, 1}});
  const TensorId last[] = {w, y};
  const std::uint32_t first[] = {0};
  builder.op({.name = "add_", .phase = Phase::Optimizer, .inputs = {last, 1}, .mutated = first});
  builder.release(y);
  const Trace trace = std::move(builder).finish();
  const Step step = step_of(trace, find_step(trace));
  const Batch batch = batch_of(trace, step);
  EXPECT_EQ(batch.size, 8);
  for (std::size_t i = 0; i < step.items.size(); ++i)
    EXPECT_EQ(batch.batched[i], index(step.items[i].storage) != 1) << i;
}

TEST(Alternating, SavesAsPublished) {
  const Step resnet = resnet50(32, 4).step, vgg = vgg16(32, 4).step;
  const auto change = [](const Step& step, double mebibytes) {
    const double capacity = mebibytes * 1048576;
    return curve_of(alternating(step)).at(capacity).total() / curve_of(step).at(capacity).total();
  };
  EXPECT_NEAR(change(resnet, 16), 1 - 0.092, 0.001);
  EXPECT_NEAR(change(resnet, 32), 1 - 0.128, 0.001);
  EXPECT_NEAR(change(resnet, 64), 1 - 0.145, 0.001);
  EXPECT_NEAR(change(resnet, 128), 1 - 0.142, 0.001);
  EXPECT_NEAR(change(vgg, 256), 1 - 0.164, 0.001);
  EXPECT_NEAR(change(vgg, 1024), 1 + 0.031, 0.001);
}

TEST(Alternating, IsThatOfACacheOfLines) {
  const Step step = alternating(resnet50(8, 4).step);
  constexpr std::int64_t kLine = 16384;
  for (const std::int64_t capacity : {4 << 20, 16 << 20, 64 << 20}) {
    const Moved moved = naive_cache(step, capacity, kLine);
    const auto exact = static_cast<double>(moved.read + moved.write);
    EXPECT_NEAR(curve_of(step).at(static_cast<double>(capacity)).total(), exact, 0.005 * exact);
  }
}

struct Made3 {
  Step step;
  explicit Made3(bool wanted_later) {
    step.items.assign(4, {StorageId{0}, {100}});
    step.items[3].lasts = true;
    // 0 -> [mm] -> 1 -> [relu] -> 2 -> [mm] -> 3, which may read 1 again
    step.accesses = {{0, true},        {1, false, true}, {1, true},
                     {2, false, true}, {2, true},        {3, false, true}};
    if (wanted_later) step.accesses.push_back({1, true});
    step.ops = {
        {.kernel = Kernel::Matmul}, {.kernel = Kernel::Elementwise}, {.kernel = Kernel::Matmul}};
    step.sweeps = {{0, 0, 2}, {1, 2, 2}, {2, 4, wanted_later ? 3u : 2u}};
  }
};

TEST(Fused, LeavesOutWhatLiesBetween) {
  const Step step = fused(Made3{false}.step);
  ASSERT_EQ(step.sweeps.size(), 2u);
  ASSERT_EQ(step.sweeps[0].count, 2u);
  EXPECT_EQ(step.accesses[0].item, 0u);
  EXPECT_EQ(step.accesses[1].item, 2u);
  EXPECT_TRUE(step.accesses[1].write && !step.accesses[1].read);
}

TEST(Fused, FindsWhatAnEarlierSweepOfTheOpMade) {
  Step step;
  step.items.assign(4, {StorageId{0}, {100}});
  step.items[3].lasts = true;
  // [0 -> 1; 0 -> 3], then 1 -> [relu] -> 2, which the last op reads.
  step.accesses = {{0, true}, {1, false, true}, {0, true}, {3, false, true},
                   {1, true}, {2, false, true}, {2, true}, {3, true, true}};
  step.ops = {
      {.kernel = Kernel::Convolution}, {.kernel = Kernel::Elementwise}, {.kernel = Kernel::Norm}};
  step.sweeps = {{0, 0, 2}, {0, 2, 2}, {1, 4, 2}, {2, 6, 2}};
  const Step joint = fused(step);
  ASSERT_EQ(joint.sweeps.size(), 3u);
  EXPECT_EQ(joint.ops.size(), 2u);
  const auto first = joint.accesses_of(joint.sweeps[0]);
  ASSERT_EQ(first.size(), 2u);  // 1 is not written, for nobody else reads it
  EXPECT_EQ(first[0].item, 0u);
  EXPECT_EQ(first[1].item, 2u);
  EXPECT_EQ(joint.accesses_of(joint.sweeps[1])[1].item, 3u);
  EXPECT_EQ(joint.accesses_of(joint.sweeps[2])[0].item, 2u);
}

TEST(Fused, WritesWhatIsWantedLater) {
  const Step step = fused(Made3{true}.step);
  ASSERT_EQ(step.sweeps.size(), 2u);
  ASSERT_EQ(step.sweeps[0].count, 3u);
  EXPECT_TRUE(step.accesses[1].write && !step.accesses[1].read);
  EXPECT_EQ(step.sweeps[1].first, 3u);
}

}  // namespace
}  // namespace weir::cost::test
