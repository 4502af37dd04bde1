#include "cost/step.h"

#include <gtest/gtest.h>

#include "trace/builder.h"
#include "trace/generate.h"
#include "weir/errors.h"

namespace weir::cost::test {
namespace {

using trace::Output;
using trace::TraceBuilder;

constexpr std::int64_t kStrides[] = {1};

Layout floats(const std::int64_t& elements, std::int64_t offset = 0) {
  return {"float32", {&elements, 1}, kStrides, offset};
}

TensorId run(TraceBuilder& builder, const char* name, std::vector<TensorId> inputs,
             std::vector<Output> outputs, std::vector<std::uint32_t> mutated = {}) {
  return builder.op({.name = name, .inputs = inputs, .mutated = mutated, .outputs = outputs});
}

TEST(FindStep, TakesTheLastWholeOne) {
  const Trace trace = trace::training_step(3, {.steps = 3});
  const StepRange last = find_step(trace), third = find_step(trace, 3);
  EXPECT_EQ(last.first, third.first);
  EXPECT_EQ(last.end, third.end);
  EXPECT_EQ(find_step(trace, 1).first, 0u);
  EXPECT_EQ(trace.events[last.end].kind, EventKind::Step);
  EXPECT_THROW((void)find_step(trace, 0), BadInput);
  EXPECT_THROW((void)find_step(trace, 4), BadInput);
}

TEST(FindStep, TakesATraceWithoutMarksAsOne) {
  const Trace trace = trace::linear_chain(5);
  EXPECT_EQ(find_step(trace).first, 0u);
  EXPECT_EQ(find_step(trace).end, trace.events.size());
}

TEST(StepOf, TouchesWhatAnOpReadsAndMakes) {
  TraceBuilder builder{ViewRule::Keep, "made"};
  const TensorId x = builder.constant({100}), w = builder.constant({40});
  const TensorId y = run(builder, "mm", {x, w}, {{.size = {60}}});
  run(builder, "relu_", {y}, {{.view_of = 0}}, {0});
  const Trace trace = std::move(builder).finish();
  const Step step = step_of(trace, find_step(trace));
  ASSERT_EQ(step.sweeps.size(), 2u);
  const auto first = step.accesses_of(step.sweeps[0]), second = step.accesses_of(step.sweeps[1]);
  ASSERT_EQ(first.size(), 3u);
  EXPECT_TRUE(first[0].read && first[1].read && first[2].write);
  EXPECT_FALSE(first[0].write || first[1].write || first[2].read);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_TRUE(second[0].read && second[0].write);
  EXPECT_EQ(step.items[second[0].item].bytes, Bytes{60});
}

TEST(StepOf, LetsAnOpSayWhichPassTouchesWhat) {
  TraceBuilder builder{ViewRule::Keep, "made"};
  const TensorId x = builder.constant({100}), w = builder.constant({40});
  run(builder, "backward", {x, w}, {{.size = {60}}});
  const Trace trace = std::move(builder).finish();
  OpWork work;
  work.touches = {{StorageId{0}, {100}, false, 2},
                  {StorageId{1}, {40}, false, 1, 1},
                  {StorageId{2}, {60}, true, 1, 0}};
  const Step step = step_of(trace, find_step(trace), {&work, 1});
  ASSERT_EQ(step.sweeps.size(), 2u);
  const auto bytes = [&](std::size_t sweep) {
    std::vector<std::int64_t> all;
    for (const Access& access : step.accesses_of(step.sweeps[sweep]))
      all.push_back(step.items[access.item].bytes.n);
    return all;
  };
  EXPECT_EQ(bytes(0), (std::vector<std::int64_t>{100, 40}));
  EXPECT_EQ(bytes(1), (std::vector<std::int64_t>{100, 60}));
}

TEST(StepOf, MakesASweepOfEveryPassAndWritesInTheLast) {
  TraceBuilder builder{ViewRule::Keep, "made"};
  const TensorId x = builder.constant({100});
  run(builder, "norm", {x}, {{.size = {100}}});
  const Trace trace = std::move(builder).finish();
  OpWork norm;
  norm.touches = {{StorageId{0}, {100}, false, 2}, {StorageId{1}, {100}, true, 1}};
  const Step step = step_of(trace, find_step(trace), {&norm, 1});
  ASSERT_EQ(step.sweeps.size(), 2u);
  EXPECT_EQ(step.sweeps[0].count, 1u);
  EXPECT_EQ(step.sweeps[1].count, 2u);
  EXPECT_EQ(step.ops.size(), 1u);
}

TEST(StepOf, KnowsWhatLasts) {
  TraceBuilder builder{ViewRule::Keep, "made"};
  const TensorId w = builder.constant({8});                              // storage 0
  const TensorId momentum = run(builder, "zeros", {}, {{.size = {8}}});  // 1
  builder.step();
  const TensorId a = run(builder, "mm", {w, momentum}, {{.size = {16}}});  // 2: dies in the step
  const TensorId b = run(builder, "mm", {a}, {{.size = {24}}});            // 3: used after it
  const TensorId c = run(builder, "mm", {a}, {{.size = {32}}});  // 4: let go after it, unread
  builder.release(a);
  run(builder, "add_", {w, b, c}, {}, {0});
  builder.step();
  builder.release(c);
  run(builder, "mm", {b}, {{.size = {1}}});
  builder.release(momentum);
  builder.release(b);
  const Trace trace = std::move(builder).finish();
  const Step step = step_of(trace, find_step(trace));
  ASSERT_EQ(step.items.size(), 5u);
  const bool lasts[] = {true, true, false, true, false};
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_EQ(step.items[i].lasts, lasts[index(step.items[i].storage)]) << i;
}

// A time step of a sequence is a part of its storage: others do not make it stay.
TEST(StepOf, CutsAStorageWhereViewsBegin) {
  TraceBuilder builder{ViewRule::Keep, "made"};
  const std::int64_t all = 30, part = 10;
  const TensorId x = builder.constant({120}, floats(all));
  std::vector<TensorId> views;
  for (std::int64_t i = 0; i < 3; ++i)
    views.push_back(run(builder, "narrow", {x}, {{.view_of = 0, .layout = floats(part, 10 * i)}}));
  for (const TensorId view : {views[0], views[2]}) run(builder, "sum", {view}, {{.size = {4}}});
  run(builder, "sum", {x}, {{.size = {4}}});
  const Trace trace = std::move(builder).finish();
  std::vector<OpWork> works(trace.ops.size());
  works[3].touches = works[4].touches = {{StorageId{0}, {40}}};
  works[5].touches = {{StorageId{0}, {120}}};
  const Step step = step_of(trace, find_step(trace), works);
  ASSERT_EQ(step.items.size(), 3u);
  ASSERT_EQ(step.sweeps.size(), 3u);
  EXPECT_EQ(step.accesses_of(step.sweeps[0])[0].item, 0u);
  EXPECT_EQ(step.accesses_of(step.sweeps[1])[0].item, 2u);
  EXPECT_EQ(step.sweeps[2].count, 3u);
}

}  // namespace
}  // namespace weir::cost::test
