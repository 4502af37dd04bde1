#include "trace/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "weir/errors.h"

namespace weir::trace {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
    return "";
  } catch (const BadInput& error) {
    return error.what();
  }
}

class TraceBuilderTest : public ::testing::Test {
 protected:
  TensorId run(std::vector<TensorId> inputs, std::vector<Output> outputs = {{.size = {8}}}) {
    return builder.op({.name = "op", .cost = {5}, .inputs = inputs, .outputs = outputs});
  }
  void mutate(std::vector<TensorId> inputs, std::vector<std::uint32_t> places) {
    builder.op({.name = "op_", .inputs = inputs, .mutated = places});
  }

  TraceBuilder builder{ViewRule::Keep, "test"};
};

TEST_F(TraceBuilderTest, NumbersTensorsAndStoragesByAppearance) {
  TensorId x = builder.constant({16});
  TensorId y = run({x, x}, {{.view_of = 1}, {.size = {4}}});
  Trace trace = std::move(builder).finish();
  EXPECT_EQ(index(x), 0u);
  EXPECT_EQ(index(y), 1u);
  EXPECT_EQ(trace.tensors[1].storage, trace.tensors[0].storage);
  EXPECT_EQ(trace.tensors[1].alias_of, 1);
  EXPECT_EQ(trace.tensors[2].storage, StorageId{1});
  EXPECT_EQ(trace.storages[1].size, Bytes{4});
  EXPECT_EQ(trace.inputs, (std::vector<TensorId>{x, x}));
}

TEST_F(TraceBuilderTest, InternsNames) {
  run({}), run({});
  Trace trace = std::move(builder).finish();
  EXPECT_EQ(trace.names, (std::vector<std::string>{"", "op"}));
  EXPECT_EQ(trace.ops[1].name, 1u);
}

TEST_F(TraceBuilderTest, KeepsLayouts) {
  const std::int64_t shape[] = {2, 3}, strides[] = {3, 1};
  builder.constant({24}, {.dtype = "float32", .shape = shape, .strides = strides, .offset = 7});
  Trace trace = std::move(builder).finish();
  EXPECT_EQ(trace.geometry, (std::vector<std::int64_t>{2, 3, 3, 1, 7}));
  EXPECT_EQ(trace.tensors[0].rank, 2u);
  EXPECT_EQ(trace.names[trace.tensors[0].dtype], "float32");
}

TEST_F(TraceBuilderTest, RefusesUnknownTensors) {
  TensorId nobody{7};
  EXPECT_THAT(error_of([&] { run({nobody}); }), HasSubstr("tensor 7 does not exist"));
  EXPECT_THAT(error_of([&] { builder.retain(nobody); }), HasSubstr("does not exist"));
  EXPECT_THAT(error_of([&] { builder.release(nobody); }), HasSubstr("does not exist"));
  EXPECT_THAT(error_of([&] { builder.keep(nobody); }), HasSubstr("does not exist"));
}

TEST_F(TraceBuilderTest, ForgetsReleasedTensors) {
  TensorId x = run({});
  builder.retain(x);
  builder.release(x);
  run({x});
  builder.release(x);
  EXPECT_THAT(error_of([&] { run({x}); }), HasSubstr("op 'op' uses a released tensor"));
  EXPECT_THAT(error_of([&] { builder.retain(x); }), HasSubstr("cannot be retained"));
  EXPECT_THAT(error_of([&] { builder.keep(x); }), HasSubstr("cannot be kept"));
  EXPECT_THAT(error_of([&] { builder.release(x); }), HasSubstr("released more often"));
}

TEST_F(TraceBuilderTest, UnderDtrsRulesAReleasedTensorMayComeBack) {
  TraceBuilder log{ViewRule::Rerun, "log"};
  TensorId x = log.op({.name = "f", .outputs = std::vector<Output>{{.size = {1}}}});
  log.release(x);
  log.op({.name = "g", .inputs = std::vector{x}});
  EXPECT_THAT(error_of([&] { log.release(x); }), HasSubstr("released more often"));
  log.retain(x);
  log.release(x);
}

TEST_F(TraceBuilderTest, RefusesSizesAndCostsOutOfRange) {
  EXPECT_THAT(error_of([&] { builder.constant({-1}); }), HasSubstr("negative size"));
  EXPECT_THAT(error_of([&] { builder.constant(kMostBytes + Bytes{1}); }), HasSubstr("beyond 2^50"));
  EXPECT_THAT(error_of([&] { run({}, {{.size = {-5}}}); }), HasSubstr("negative size"));
  EXPECT_THAT(error_of([&] { builder.op({.name = "f", .cost = {-1}}); }),
              HasSubstr("negative cost"));
  EXPECT_THAT(error_of([&] { builder.op({.name = "f", .cost = kMostNanos + Nanos{1}}); }),
              HasSubstr("beyond 2^50"));
}

TEST_F(TraceBuilderTest, RefusesSumsThatCouldOverflow) {
  for (int i = 0; i < 2048; ++i) builder.constant(kMostBytes);
  EXPECT_THAT(error_of([&] { builder.constant({1}); }), HasSubstr("exceed 2^61 bytes"));
  EXPECT_THAT(error_of([&] { run({}, {{.size = {1}}}); }), HasSubstr("exceed 2^61 bytes"));
  for (int i = 0; i < 2048; ++i) builder.op({.name = "f", .cost = kMostNanos});
  EXPECT_THAT(error_of([&] { builder.op({.name = "f", .cost = {1}}); }),
              HasSubstr("exceed 2^61 ns"));
}

TEST_F(TraceBuilderTest, RefusesPlacesOutOfRange) {
  TensorId x = run({});
  EXPECT_THAT(error_of([&] { run({x}, {{.view_of = 1}}); }),
              HasSubstr("a view of input 1 but has 1 inputs"));
  EXPECT_THAT(error_of([&] { run({x}, {{.view_of = -2}}); }), HasSubstr("a view of input -2"));
  EXPECT_THAT(error_of([&] { mutate({x}, {1}); }), HasSubstr("mutates input 1 but has 1 inputs"));
  EXPECT_THAT(error_of([&] { mutate({x, x}, {1, 1}); }), HasSubstr("lists mutated input 1 twice"));
}

TEST_F(TraceBuilderTest, HasNoInPlaceOpsWhereViewsAreRerun) {
  TraceBuilder log{ViewRule::Rerun, "log"};
  TensorId x = log.constant({1});
  const TensorId inputs[] = {x};
  const std::uint32_t places[] = {0};
  EXPECT_THAT(error_of([&] { log.op({.name = "f_", .inputs = inputs, .mutated = places}); }),
              HasSubstr("a trace whose views are re-run cannot have in-place ops"));
}

TEST_F(TraceBuilderTest, RefusesImpossibleLayouts) {
  const std::int64_t one[] = {1}, two[] = {1, 1}, negative[] = {-1};
  auto constant = [&](Layout layout) { return error_of([&] { builder.constant({4}, layout); }); };
  EXPECT_THAT(constant({.shape = one, .strides = one}), HasSubstr("a shape needs a dtype"));
  EXPECT_THAT(constant({.dtype = "f", .shape = two, .strides = one}),
              HasSubstr("differ in length"));
  EXPECT_THAT(constant({.dtype = "f", .shape = negative, .strides = one}), HasSubstr("negative"));
}

TEST_F(TraceBuilderTest, StaysAsItWasWhenItRefuses) {
  TensorId x = run({});
  EXPECT_NE(error_of([&] { run({x}, {{.size = {4}}, {.view_of = 9}}); }), "");
  EXPECT_NE(error_of([&] { mutate({x}, {3}); }), "");
  EXPECT_EQ(builder.tensors(), 1u);
  EXPECT_EQ(builder.storages(), 1u);
  EXPECT_EQ(builder.events(), 1u);
  Trace trace = std::move(builder).finish();
  EXPECT_TRUE(trace.mutated.empty());
  EXPECT_EQ(trace.names.size(), 2u);
}

}  // namespace
}  // namespace weir::trace
