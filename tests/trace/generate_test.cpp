#include "trace/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "trace/info.h"
#include "trace/testing.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

using test::fingerprint;

std::string story_of(const Trace& trace) {
  std::string text;
  for (const TraceEvent& event : trace.events) {
    bool is_op = event.kind == EventKind::Op;
    text += is_op ? "+" : "-";
    text += std::to_string(is_op ? trace.ops[event.item].first_output : event.item);
    if (!is_op) continue;
    for (TensorId input : trace.inputs_of(trace.ops[event.item]))
      text.append("<").append(std::to_string(index(input)));
  }
  return text;
}

TEST(Generate, AChainIsTheProgramOfDtrsTheorem) {
  EXPECT_EQ(story_of(linear_chain(1)), "+0-0+1");
  EXPECT_EQ(story_of(linear_chain(3)), "+0+1<0+2<1-2+3-1+4<0<3-3-0+5<4-4");
  EXPECT_EQ(liveness_peak(linear_chain(100)), Bytes{100});
  EXPECT_EQ(base_cost(linear_chain(100, {8}, {3})), Nanos{600});
}

TEST(Generate, ATreeReleasesEverything) {
  EXPECT_EQ(story_of(binary_tree(1)), "+0+1+2<0<1-2+3<0<1-0-1+4<3-4+5<3-3-5");
  EXPECT_EQ(binary_tree(10).ops.size(), 2 * 2047u);
}

TEST(Generate, RefusesSizesOutOfRange) {
  EXPECT_THROW(linear_chain(0), BadInput);
  EXPECT_THROW(binary_tree(26), BadInput);
  EXPECT_THROW(layered_dag(0, 5, 1), BadInput);
  EXPECT_THROW(layered_dag(1u << 31, 1u << 31, 1), BadInput);
}

TEST(Generate, SameArgumentsGiveTheSameTrace) {  // golden: changed only on purpose
  EXPECT_EQ(fingerprint(linear_chain(10)), 12189095741589605356u);
  EXPECT_EQ(fingerprint(binary_tree(4)), 2742459637644308384u);
  EXPECT_EQ(fingerprint(layered_dag(6, 5, 7)), 2123014780800937572u);
  EXPECT_EQ(fingerprint(training_step(7)), 9322184082082141092u);
  EXPECT_EQ(fingerprint(random_log_trace(7)), 951149136925040840u);
}

TEST(Generate, DifferentSeedsGiveDifferentTraces) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    seen.insert(fingerprint(training_step(seed)));
    seen.insert(fingerprint(random_log_trace(seed)));
    seen.insert(fingerprint(layered_dag(4, 4, seed)));
  }
  EXPECT_EQ(seen.size(), 300u);
}

// The builder checks what it is told, so making a trace at all shows that it is valid.
TEST(Generate, EverySeedAndSizeIsValid) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    auto few = static_cast<std::uint32_t>(seed % 5);
    training_step(seed, {.steps = few, .ops = few, .parameters = few, .most_live = few});
    random_log_trace(seed, {.ops = few, .constants = few, .most_live = few});
  }
  EXPECT_EQ(training_step(1, {.steps = 3}).ops.empty(), false);
}

struct OddCases {
  int duplicate_inputs = 0, empty_storages = 0, free_ops = 0, views_of_views = 0;
  int mutations_through_views = 0, mutated_constants = 0, no_inputs = 0, no_outputs = 0;
  int mixed_outputs = 0, not_recomputable = 0, steps = 0, keeps = 0, retains = 0;
};

void count_op(const Trace& trace, const TraceOp& op, OddCases& count) {
  auto is_view = [&](TensorId tensor) { return trace.tensors[index(tensor)].alias_of != kFresh; };
  std::span<const TensorId> inputs = trace.inputs_of(op);
  count.duplicate_inputs += std::set(inputs.begin(), inputs.end()).size() < inputs.size();
  count.free_ops += op.cost == Nanos{0};
  count.no_inputs += inputs.empty();
  count.no_outputs += op.outputs == 0;
  count.not_recomputable += !op.recomputable;
  for (std::uint32_t place : trace.mutated_by(op)) {
    count.mutations_through_views += is_view(inputs[place]);
    count.mutated_constants += index(inputs[place]) < 3;
  }
  int views = 0;
  for (const TraceTensor& out : trace.outputs_of(op)) {
    if (out.alias_of == kFresh) continue;
    ++views;
    count.views_of_views += is_view(inputs[static_cast<std::size_t>(out.alias_of)]);
  }
  count.mixed_outputs += views > 0 && static_cast<std::uint32_t>(views) < op.outputs;
}

TEST(Generate, TrainingIsRichInOddCases) {
  OddCases count;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Trace trace = training_step(seed);
    for (const TraceOp& op : trace.ops) count_op(trace, op, count);
    for (const TraceStorage& storage : trace.storages)
      count.empty_storages += storage.size == Bytes{0};
    for (const TraceEvent& event : trace.events) {
      count.steps += event.kind == EventKind::Step;
      count.keeps += event.kind == EventKind::Keep;
      count.retains += event.kind == EventKind::Retain;
    }
    EXPECT_LT(trace.ops.size(), 80u);
  }
  for (int times :
       {count.duplicate_inputs, count.empty_storages, count.free_ops, count.views_of_views,
        count.mutations_through_views, count.mutated_constants, count.no_inputs, count.no_outputs,
        count.mixed_outputs, count.not_recomputable, count.steps, count.keeps, count.retains})
    EXPECT_GE(times, 20);
}

TEST(Generate, LogsFollowDtrsRules) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Trace trace = random_log_trace(seed);
    EXPECT_EQ(trace.views, ViewRule::Rerun);
    EXPECT_TRUE(trace.mutated.empty());
    EXPECT_TRUE(std::ranges::all_of(trace.ops, &TraceOp::recomputable));
  }
}

}  // namespace
}  // namespace weir::trace
