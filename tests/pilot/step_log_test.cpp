#include "pilot/step_log.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "steps.h"
#include "trace/generate.h"
#include "trace/info.h"

namespace weir::pilot {
namespace {

TEST(StepLog, TellsEqualStepsFromOthers) {
  const Step a, larger{.size = {65}}, longer{.layers = 17}, with_extra{.extra = 3};
  const Step steps[] = {a, a, a, larger, a, longer, with_extra, a};
  const std::vector<StepLog> logs = logs_of(training(steps));
  ASSERT_EQ(logs.size(), 8u);
  for (std::size_t same : {2u, 4u, 7u}) EXPECT_EQ(logs[same].digest(), logs[1].digest()) << same;
  for (std::size_t other : {3u, 5u, 6u}) EXPECT_NE(logs[other].digest(), logs[1].digest()) << other;
}

TEST(StepLog, KnowsWhereTwoStepsPart) {
  const Step a, with_extra{.extra = 3};
  const Step steps[] = {a, a, with_extra};
  const std::vector<StepLog> logs = logs_of(training(steps));
  const std::vector<std::uint64_t> one = logs[1].digests(), other = logs[2].digests();
  for (std::size_t op = 0; op < 5; ++op) EXPECT_EQ(one[op], other[op]) << op;
  EXPECT_NE(one[5], other[5]);
}

// The twin: the trace of one step alone costs what the step did, and its peak is the program's.
TEST(StepLog, IsATraceOfTheStep) {
  const Step a;
  const Step steps[] = {a, a};
  const Trace whole = training(steps);
  const Trace logged = logs_of(whole)[1].trace().trace;
  EXPECT_EQ(2 * logged.ops.size(), whole.ops.size());
  EXPECT_EQ(trace::liveness_peak(logged), trace::liveness_peak(whole));
  for (std::size_t i = 0; i < logged.ops.size(); ++i) {
    const TraceOp& ours = logged.ops[i];
    const TraceOp& theirs = whole.ops[logged.ops.size() + i];
    EXPECT_EQ(ours.cost, theirs.cost) << i;
    EXPECT_EQ(ours.phase, theirs.phase) << i;
    EXPECT_EQ(ours.recomputable, theirs.recomputable) << i;
    EXPECT_EQ(ours.inputs, theirs.inputs) << i;
    EXPECT_EQ(ours.outputs, theirs.outputs) << i;
  }
}

TEST(StepLog, KnowsWhatWasThereBefore) {
  const Step a{.momentum = true};
  const Step steps[] = {a, a};
  const std::vector<StorageId> carried = logs_of(training(steps))[1].carried();
  const auto made = std::ranges::count(carried, kNoStorage);
  EXPECT_EQ(carried.size() - static_cast<std::size_t>(made), 2 * a.layers);
}

TEST(StepLog, NeverHoldsMoreThanTheProgramDid) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Trace whole = trace::training_step(seed, {.steps = 3});
    for (const StepLog& log : logs_of(whole)) {
      const StepLog::Numbered numbered = log.trace(StepLog::Results::MayGo);
      EXPECT_EQ(numbered.numbers.size(), numbered.trace.storages.size()) << seed;
      EXPECT_LE(trace::liveness_peak(numbered.trace), trace::liveness_peak(whole)) << seed;
    }
  }
}

}  // namespace
}  // namespace weir::pilot
