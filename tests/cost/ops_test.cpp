// What ops compute and touch, against figures worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cost/op_work.h"
#include "cost/ops.h"
#include "trace/builder.h"

namespace weir::cost {
namespace {

using Shape = std::vector<std::int64_t>;
using Settings = std::map<std::string, Shape>;

Shape contiguous(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// One op on constants of its own: what it takes, what it makes, what it changes.
class OneOp {
 public:
  OneOp& takes(const Shape& shape, const Shape& strides = {}, const char* dtype = "float32") {
    places_.push_back(static_cast<std::int32_t>(inputs_.size()));
    inputs_.push_back(builder_.constant({1 << 30}));
    return describe(shape, strides, dtype);
  }
  OneOp& takes_again(std::size_t which, const Shape& shape, std::int64_t offset = 0) {
    places_.push_back(static_cast<std::int32_t>(inputs_.size()));
    inputs_.push_back(inputs_[which]);
    const Shape strides = contiguous(shape);
    layouts_.push_back(builder_.layout(
        {.dtype = "float32", .shape = shape, .strides = strides, .offset = offset}));
    return *this;
  }
  OneOp& takes_nothing() {
    places_.push_back(TraceArgument::kNotInput);
    layouts_.push_back(0);
    return *this;
  }
  OneOp& makes(const Shape& shape) {
    made_.push_back(shape);
    strides_.push_back(contiguous(shape));
    return *this;
  }
  OneOp& changes(std::uint32_t place) {
    mutated_.push_back(place);
    return *this;
  }
  OneOp& with(const std::string& name, const Shape& values) {
    settings_[name] = values;
    return *this;
  }

  OpWork work(const char* name) {
    std::vector<trace::Output> outputs;
    for (std::size_t i = 0; i < made_.size(); ++i)
      outputs.push_back(
          {.size = {1 << 30},
           .layout = {.dtype = "float32", .shape = made_[i], .strides = strides_[i]}});
    std::vector<TraceArgument> arguments;
    for (std::size_t i = 0; i < places_.size(); ++i) arguments.push_back({layouts_[i], places_[i]});
    std::vector<trace::Setting> settings;
    for (const auto& [key, values] : settings_) settings.push_back({key, values});
    builder_.op({.name = name,
                 .inputs = inputs_,
                 .mutated = mutated_,
                 .outputs = outputs,
                 .arguments = arguments,
                 .settings = settings});
    trace_ = std::move(builder_).finish();
    return work_of(trace_, trace_.ops[0]);
  }

 private:
  OneOp& describe(const Shape& shape, const Shape& strides, const char* dtype) {
    const Shape used = strides.empty() ? contiguous(shape) : strides;
    layouts_.push_back(builder_.layout({.dtype = dtype, .shape = shape, .strides = used}));
    return *this;
  }

  trace::TraceBuilder builder_{ViewRule::Keep, "test"};
  std::vector<TensorId> inputs_;
  std::vector<std::int32_t> places_;
  std::vector<std::uint32_t> layouts_, mutated_;
  std::vector<Shape> made_, strides_;
  Settings settings_;
  Trace trace_;
};

std::int64_t moved(const OpWork& work, bool write) {
  std::int64_t bytes = 0;
  for (const Touch& touch : work.touches)
    if (touch.write == write) bytes += touch.bytes.n * touch.passes;
  return bytes;
}

void expect(const OpWork& work, std::int64_t flops, std::int64_t read, std::int64_t written) {
  EXPECT_TRUE(work.known);
  EXPECT_EQ(work.flops, flops);
  EXPECT_EQ(moved(work, false), read);
  EXPECT_EQ(moved(work, true), written);
}

TEST(OpWork, OfMatrixProducts) {
  expect(OneOp{}.takes({2, 3}).takes({3, 5}).makes({2, 5}).work("aten::mm"), 60, 4 * 21, 4 * 10);
  expect(OneOp{}.takes({5}).takes({2, 3}).takes({3, 5}).makes({2, 5}).work("aten::addmm"), 60,
         4 * 26, 4 * 10);
  expect(OneOp{}.takes({7, 2, 3}).takes({7, 3, 5}).makes({7, 2, 5}).work("aten::bmm"), 420, 4 * 147,
         4 * 70);
}

TEST(OpWork, OfAConvolutionWithGroups) {
  OpWork work = OneOp{}
                    .takes({2, 8, 6, 6})
                    .takes({12, 4, 3, 3})
                    .takes_nothing()
                    .makes({2, 12, 3, 3})
                    .with("groups", {2})
                    .with("stride", {2, 2})
                    .with("transposed", {0})
                    .work("aten::convolution");
  expect(work, 2 * 2 * 9 * 12 * 4 * 9, 4 * (576 + 432), 4 * 216);
  ASSERT_EQ(work.gemms.size(), 1u);
  EXPECT_EQ(work.gemms[0].batch, 2);
  EXPECT_EQ(work.gemms[0].m, 6);
  EXPECT_EQ(work.gemms[0].n, 18);
  EXPECT_EQ(work.gemms[0].k, 36);
  EXPECT_DOUBLE_EQ(work.gemms[0].window, 9.0 / 4);
}

TEST(OpWork, OfATransposedConvolutionCountsPlacesOfItsInput) {
  expect(OneOp{}
             .takes({1, 4, 5, 5})
             .takes({4, 3, 2, 2})
             .takes_nothing()
             .makes({1, 3, 10, 10})
             .with("transposed", {1})
             .with("stride", {2, 2})
             .work("aten::convolution"),
         2 * 25 * 4 * 3 * 4, 4 * (100 + 48), 4 * 300);
}

TEST(OpWork, OfABackwardConvolutionDependsOnWhatIsWanted) {
  auto backward = [](const Shape& mask) {
    return OneOp{}
        .takes({2, 4, 6, 6})
        .takes({2, 3, 6, 6})
        .takes({4, 3, 3, 3})
        .with("output_mask", mask)
        .work("aten::convolution_backward");
  };
  const std::int64_t one = 2 * 2 * 36 * 108;
  EXPECT_EQ(backward({1, 1, 0}).flops, 2 * one);
  EXPECT_EQ(backward({0, 1, 0}).flops, one);
  EXPECT_EQ(backward({1, 0, 1}).flops, one);
  for (const Touch& touch : backward({0, 1, 0}).touches) EXPECT_EQ(touch.passes + touch.after, 1u);
}

TEST(OpWork, OfABackwardConvolutionMakesOneGradientAfterTheOther) {
  const OpWork work = OneOp{}
                          .takes({2, 4, 6, 6})
                          .takes({2, 8, 6, 6})
                          .takes({4, 8, 3, 3})
                          .makes({2, 8, 6, 6})
                          .makes({4, 8, 3, 3})
                          .with("output_mask", {1, 1, 0})
                          .work("aten::convolution_backward");
  ASSERT_EQ(work.touches.size(), 5u);
  const auto sweeps = [&](std::size_t i) {
    return std::pair{work.touches[i].passes, work.touches[i].after};
  };
  EXPECT_EQ(sweeps(0), std::pair(2u, 0u));  // the gradient of the output, in both
  EXPECT_EQ(sweeps(1), std::pair(1u, 0u));  // the input, though larger, in the second
  EXPECT_EQ(sweeps(2), std::pair(1u, 1u));  // the weight in the first
  EXPECT_EQ(sweeps(3), std::pair(1u, 1u));
  EXPECT_EQ(sweeps(4), std::pair(1u, 0u));
}

// Of a forward convolution of so many images: what is copied.
std::vector<Bytes> copies_of(std::int64_t images, std::int64_t channels, std::int64_t filter,
                             std::int64_t stride) {
  const std::int64_t side = 28 / stride;
  return OneOp{}
      .takes({images, channels, 28, 28})
      .takes({64, channels, filter, filter})
      .makes({images, 64, side, side})
      .with("stride", {stride, stride})
      .work("aten::convolution")
      .cpu.copies;
}

TEST(CpuKernels, OfConvolutionsCopyOperandsUnlessFiltersAreOfOnePixel) {
  const Bytes image{4 * 28 * 28}, weight{4 * 64};
  using Copies = std::vector<Bytes>;
  EXPECT_EQ(copies_of(4, 64, 3, 1),
            (Copies{{image.n * 4 * 64}, {weight.n * 64 * 9}, {image.n * 4 * 64}}));
  EXPECT_EQ(copies_of(4, 3, 7, 2), (Copies{{weight.n * 3 * 49}, {image.n * 4 * 64 / 4}}));
  EXPECT_EQ(copies_of(15, 64, 1, 1), Copies{});
  EXPECT_EQ(copies_of(16, 64, 1, 1).size(), 3u);
}

TEST(CpuKernels, OfConvolutionsCopyForEachGradient) {
  const auto copies = [](const Shape& mask) {
    return OneOp{}
        .takes({4, 64, 28, 28})
        .takes({4, 32, 28, 28})
        .takes({64, 32, 3, 3})
        .makes({4, 32, 28, 28})
        .makes({64, 32, 3, 3})
        .with("output_mask", mask)
        .work("aten::convolution_backward")
        .cpu.copies.size();
  };
  EXPECT_EQ(copies({1, 1, 0}), 6u);
  EXPECT_EQ(copies({0, 1, 0}), 3u);
}

TEST(CpuKernels, MakeTheGradientOfBatchNormByChannels) {
  const OpWork work = OneOp{}
                          .takes({8, 64, 28, 28})
                          .takes({8, 64, 28, 28})
                          .makes({8, 64, 28, 28})
                          .work("aten::native_batch_norm_backward");
  EXPECT_EQ(work.cpu.parts, 64);
}

TEST(OpWork, OfAttention) {
  OneOp forward, backward;
  for (int i = 0; i < 3; ++i) forward.takes({2, 3, 8, 4});
  for (int i = 0; i < 5; ++i) backward.takes({2, 3, 8, 4});
  EXPECT_EQ(forward.work("aten::_scaled_dot_product_flash_attention_for_cpu").flops,
            2 * 2 * 6 * 8 * 8 * 4);
  EXPECT_EQ(backward.work("aten::_scaled_dot_product_flash_attention_for_cpu_backward").flops,
            5 * 2 * 6 * 8 * 8 * 4);
}

TEST(OpWork, OfALayerOfAnLstm) {
  OpWork work = OneOp{}
                    .takes({7, 2, 5})
                    .takes({12, 5})
                    .takes({12, 3})
                    .takes({12})
                    .takes({12})
                    .takes({1, 2, 3})
                    .takes({1, 2, 3})
                    .work("aten::mkldnn_rnn_layer");
  EXPECT_TRUE(work.known);
  EXPECT_EQ(work.flops, 2 * 14 * 12 * 5 + 2 * 14 * 12 * 3 + 3 * 14 * 12);
  ASSERT_EQ(work.gemms.size(), 2u);
  EXPECT_EQ(work.gemms[1].batch, 7);
}

TEST(OpWork, OfNormalizationTakesTwoPasses) {
  OpWork work = OneOp{}
                    .takes({2, 3, 4, 4})
                    .takes({3})
                    .takes({3})
                    .makes({2, 3, 4, 4})
                    .work("aten::native_batch_norm");
  expect(work, 5 * 96, 4 * (2 * 96 + 6), 4 * 96);
  EXPECT_EQ(work.kernel, Kernel::Norm);
}

TEST(OpWork, BroadcastingReadsWhatIsThere) {
  expect(OneOp{}.takes({4, 6}).takes({4, 6}, {0, 1}).makes({4, 6}).work("aten::add"), 24,
         4 * (24 + 6), 4 * 24);
}

TEST(OpWork, OfInPlaceOpsReadsAndWritesTheSame) {
  expect(OneOp{}.takes({4}).takes({4}).changes(0).work("aten::add_"), 4, 4 * 8, 4 * 4);
}

TEST(OpWork, WhatIsOverwrittenIsNotRead) {
  expect(OneOp{}.takes({4}).takes({4}).changes(0).work("aten::copy_"), 0, 4 * 4, 4 * 4);
  expect(OneOp{}.takes({4}).changes(0).work("aten::zero_"), 0, 0, 4 * 4);
  expect(OneOp{}.takes({4}).takes({4}).takes({4}).changes(2).work("aten::add"), 4, 4 * 8, 4 * 4);
}

TEST(OpWork, TheSameViewCountsOnceAndOthersAreAdded) {
  EXPECT_EQ(moved(OneOp{}.takes({8}).takes_again(0, {8}).work("aten::mul"), false), 32);
  EXPECT_EQ(moved(OneOp{}.takes({8}).takes_again(0, {8}, 8).work("aten::mul"), false), 64);
}

TEST(OpWork, ATableIsReadWhereItIsLookedUp) {
  expect(OneOp{}.takes({1000, 8}).takes({3}, {}, "int64").makes({3, 8}).work("aten::embedding"), 0,
         4 * 24 + 8 * 3, 4 * 24);
}

TEST(OpWork, OfPoolingCountsItsWindow) {
  expect(OneOp{}
             .takes({1, 2, 8, 8})
             .makes({1, 2, 4, 4})
             .with("kernel_size", {3, 3})
             .work("aten::avg_pool2d"),
         32 * 9, 4 * 128, 4 * 32);
}

TEST(OpWork, OfAnUnknownOpIsItsBytes) {
  OpWork work = OneOp{}.takes({8}).makes({4}).work("mine::op");
  EXPECT_FALSE(work.known);
  EXPECT_EQ(work.flops, 0);
  EXPECT_EQ(moved(work, false), 32);
  EXPECT_EQ(moved(work, true), 16);
}

TEST(OpWork, WithoutShapesIsTheBytesOfStorages) {
  trace::TraceBuilder builder{ViewRule::Rerun, "log"};
  const TensorId x[] = {builder.constant({24})};
  const trace::Output made[] = {{.size = {8}}};
  builder.op({.name = "aten::mm", .inputs = x, .outputs = made});
  const Trace trace = std::move(builder).finish();
  OpWork work = work_of(trace, trace.ops[0]);
  EXPECT_FALSE(work.known);
  EXPECT_EQ(moved(work, false), 24);
  EXPECT_EQ(moved(work, true), 8);
}

TEST(OpWork, SurvivesAbsurdShapes) {
  const std::int64_t huge = std::int64_t{1} << 62;
  OpWork work =
      OneOp{}.takes({huge, huge}).takes({huge, huge}).makes({huge, huge}).work("aten::mm");
  EXPECT_GT(work.flops, 0);
  EXPECT_GE(OneOp{}.takes({huge, huge}).makes({huge, huge}).work("aten::gelu").flops, 0);
}

TEST(OpTable, NamesEachOperatorOnce) {
  std::map<std::string_view, int> count;
  for (auto family : {matmul_ops, convolution_ops, attention_ops, rnn_ops, norm_ops, loss_ops,
                      elementwise_ops, reduction_ops, spatial_ops, copy_ops, optimizer_ops})
    for (const Entry& entry : family()) EXPECT_EQ(++count[entry.name], 1) << entry.name;
  EXPECT_EQ(find_op("aten::add_"), find_op("aten::add"));
  EXPECT_EQ(find_op("aten::nothing_of_the_kind"), nullptr);
}

}  // namespace
}  // namespace weir::cost
