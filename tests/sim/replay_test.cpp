#include "sim/replay.h"

#include <gtest/gtest.h>

#include "sim/feasibility.h"
#include "trace/builder.h"
#include "trace/generate.h"
#include "trace/info.h"
#include "weir/errors.h"

namespace weir::sim {
namespace {

ReplayResult run(const Trace& trace, std::string_view policy, const ReplayOptions& options) {
  return replay(trace, find_policy(policy), options);
}

// Each tensor is made from the one before and a page larger; all are read again from the last to
// the first, as backward does.
Trace growing_chain(int length) {
  constexpr int kPage = 4096;
  trace::TraceBuilder builder{ViewRule::Keep, "growing tensors"};
  std::vector<TensorId> made{builder.constant({kPage})};
  const auto op = [&](TensorId input, Bytes size) {
    const trace::Output output{.size = size};
    return builder.op({.name = "f", .cost = {10}, .inputs = {&input, 1}, .outputs = {&output, 1}});
  };
  for (int i = 2; i < length; ++i) made.push_back(op(made.back(), {i * kPage}));
  for (; made.size() > 1; made.pop_back()) {
    builder.release(op(made.back(), {kPage}));
    builder.release(made.back());
  }
  return std::move(builder).finish();
}

TEST(Replay, CostsNothingAtThePeak) {
  for (const Trace& trace :
       {trace::linear_chain(50), trace::binary_tree(5), trace::layered_dag(8, 5, 1)})
    for (const PolicyEntry& policy : policies()) {
      const Bytes peak = trace::liveness_peak(trace);
      const ReplayResult result = replay(trace, policy, {.budget = peak});
      EXPECT_EQ(result.status, Status::Ok) << trace.source << ' ' << policy.name;
      EXPECT_EQ(result.slowdown(), 1.0) << trace.source << ' ' << policy.name;
      EXPECT_EQ(result.clock, result.base);
      EXPECT_EQ(result.peak, peak);
      EXPECT_EQ(result.counters.evictions + result.counters.recomputes, 0u);
    }
}

TEST(Replay, CostsNothingWithRoomForEverything) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (RestoreOrder order : {RestoreOrder::Lean, RestoreOrder::DepthFirst}) {
      const Trace trace = trace::training_step(seed);
      const ReplayResult result =
          run(trace, "h_dtr_eq",
              {.budget = kMostBytes, .deallocation = Deallocation::Ignore, .restore = order});
      EXPECT_EQ(result.status, Status::Ok) << "seed " << seed;
      EXPECT_EQ(result.clock, result.base) << "seed " << seed;
    }
}

TEST(Replay, StartsTheClockWhereTheTraceSays) {
  Trace trace = trace::linear_chain(10);
  trace.start = {5};
  const ReplayResult result = run(trace, "lru", {.budget = {100}});
  EXPECT_EQ(result.clock.n, 5 + 20);
  EXPECT_EQ(result.base.n, 20);
  EXPECT_EQ(result.slowdown(), 25.0 / 20.0);
}

// A chain whose tensors grow: what is free is always in pieces too small for the next.
TEST(Replay, CountsWhatPagesCost) {
  Trace trace = growing_chain(24);
  const Bytes budget{trace::liveness_peak(trace).n * 6 / 10};
  const ReplayResult free = run(trace, "lru", {.budget = budget, .limit = {}});
  ASSERT_GT(free.counters.evictions, 0u);
  EXPECT_EQ(free.clock, free.base + free.recompute);
  EXPECT_EQ(free.pages.n, 0);
  trace.pages = {.touch = {1 << 20}, .huge_touch = {}, .move = {1 << 20}};
  const ReplayResult dear = run(trace, "lru", {.budget = budget, .limit = {}});
  EXPECT_EQ(dear.counters.evictions, free.counters.evictions);
  EXPECT_EQ(dear.counters.recomputes, free.counters.recomputes);
  EXPECT_EQ(dear.clock, dear.base + dear.recompute + dear.pages);
  EXPECT_GE(dear.pages.n, budget.n);  // at least, each page was written to first once
}

TEST(Replay, WhereAllPagesAreReusedInPlaceTheyCostNothingMore) {
  constexpr int kPage = 4096;
  trace::TraceBuilder builder{ViewRule::Keep, "equal tensors, one at a time"};
  TensorId last = builder.constant({kPage});
  const trace::Output output{.size = {kPage}};
  for (int i = 0; i < 50; ++i) {
    const TensorId next =
        builder.op({.name = "f", .cost = {10}, .inputs = {&last, 1}, .outputs = {&output, 1}});
    builder.release(last);
    last = next;
  }
  Trace trace = std::move(builder).finish();
  trace.pages = {.touch = {256}, .huge_touch = {}, .move = {1}};  // a page costs 1
  EXPECT_EQ(run(trace, "lru", {.budget = {2 * kPage}}).pages.n, 2);
}

TEST(Replay, StaysInsideTheBudget) {
  const Trace trace = trace::layered_dag(10, 6, 4);
  const std::int64_t peak = trace::liveness_peak(trace).n;
  for (const PolicyEntry& policy : policies())
    for (std::int64_t tenths = 1; tenths <= 10; ++tenths) {
      const Bytes budget{peak * tenths / 10};
      EXPECT_LE(replay(trace, policy, {.budget = budget, .limit = 5.0}).peak, budget)
          << policy.name << " at " << tenths;
    }
}

TEST(Replay, AddsUp) {
  const ReplayResult result = run(trace::linear_chain(64), "h_dtr_eq", {.budget = {16}});
  EXPECT_EQ(result.status, Status::Ok);
  EXPECT_EQ(result.clock, result.base + result.recompute);
  EXPECT_EQ(result.recompute.n, static_cast<std::int64_t>(result.counters.recomputes));
  EXPECT_GT(result.counters.scored, result.counters.evictions);
  EXPECT_FALSE(result.stopped_in);
}

TEST(Replay, TellsHowLongEachStepTook) {
  const Trace trace = trace::training_step(3, {.steps = 3, .ops = 30});
  const Bytes peak = trace::liveness_peak(trace);
  const ReplayResult result = run(trace, "h_dtr_eq", {.budget = {peak.n * 4 / 5}, .limit = 50.0});
  ASSERT_EQ(result.status, Status::Ok);
  ASSERT_EQ(result.steps.size(), 3u);
  Nanos took, base;
  for (const ReplayResult::Step& step : result.steps) {
    EXPECT_GT(step.base, Nanos{});
    EXPECT_GE(step.took, step.base);
    took += step.took;
    base += step.base;
  }
  EXPECT_EQ(base, result.base);
  EXPECT_EQ(took, result.clock);
  EXPECT_GT(took, base);
}

TEST(Replay, SaysWhatItWouldHaveTaken) {
  trace::TraceBuilder builder{ViewRule::Keep, "big"};
  const trace::Output big{.size = {70}};
  builder.constant({40});
  builder.op({.name = "big", .outputs = {&big, 1}});
  const Trace trace = std::move(builder).finish();
  const ReplayResult result = run(trace, "lru", {.budget = {100}});
  EXPECT_EQ(result.status, Status::OutOfBudget);
  EXPECT_EQ(result.need.n, 70);
  EXPECT_EQ(result.held.n, 40);
  EXPECT_EQ(result.stopped_in, 0u);
  EXPECT_EQ(run(trace, "lru", {.budget = result.need + result.held}).status, Status::Ok);
}

TEST(Replay, HoldsScratchWhileAnOpRunsAlsoWhenItRunsAgain) {
  trace::TraceBuilder builder{ViewRule::Keep, "scratch"};
  const trace::Output ten{.size = {10}};
  const TensorId a = builder.op({.name = "a", .cost = {1}, .outputs = {&ten, 1}, .scratch = {20}});
  const TensorId b = builder.op({.name = "b", .cost = {1}, .outputs = {&ten, 1}, .scratch = {20}});
  builder.op({.name = "c", .cost = {1}, .inputs = {&a, 1}});
  builder.op({.name = "d", .cost = {1}, .inputs = {&b, 1}});
  const Trace trace = std::move(builder).finish();
  const ReplayResult enough = run(trace, "lru", {.budget = {40}});
  EXPECT_EQ(enough.peak.n, 40);
  EXPECT_EQ(enough.recompute.n, 0);
  const ReplayResult tight = run(trace, "lru", {.budget = {39}});
  EXPECT_EQ(tight.status, Status::Ok);
  EXPECT_EQ(tight.recompute.n, 2);  // a gives way to b, and b to a
  EXPECT_EQ(run(trace, "lru", {.budget = {29}}).status, Status::OutOfBudget);
}

TEST(Replay, CanStopAtAConstant) {
  trace::TraceBuilder builder{ViewRule::Keep, "constant"};
  builder.constant({40});
  const ReplayResult result = run(std::move(builder).finish(), "lru", {.budget = {39}});
  EXPECT_EQ(result.status, Status::OutOfBudget);
  EXPECT_FALSE(result.stopped_in);
}

TEST(Replay, StopsBeyondTheLimitOnly) {
  const Trace trace = trace::linear_chain(64);
  const ReplayOptions tight{.budget = {6}, .limit = std::nullopt};
  const ReplayResult free = run(trace, "lru", tight);
  ASSERT_EQ(free.status, Status::Ok);
  ASSERT_EQ(free.recompute.n, 889);
  const auto limited = [&](double most_recompute) {
    ReplayOptions options = tight;
    options.limit = 1 + most_recompute / static_cast<double>(free.base.n);
    return run(trace, "lru", options);
  };
  EXPECT_EQ(limited(889).status, Status::Ok);  // at the limit is not beyond it
  const ReplayResult stopped = limited(888);
  EXPECT_EQ(stopped.status, Status::Thrash);
  EXPECT_EQ(stopped.recompute.n, 889);
  EXPECT_TRUE(stopped.stopped_in);
}

TEST(Replay, IsTheSameForTheSameSeed) {
  const Trace trace = trace::layered_dag(10, 6, 4);
  const Bytes budget{trace::liveness_peak(trace).n / 2};
  const auto clock = [&](std::uint64_t seed) {
    return run(trace, "random", {.budget = budget, .seed = seed, .limit = std::nullopt}).clock;
  };
  EXPECT_EQ(clock(3), clock(3));
  EXPECT_NE(clock(3), clock(4));
}

// Reads a, b, c in turn with room for two: who looks ahead keeps what comes first.
TEST(Replay, GivesOraclesTheFuture) {
  trace::TraceBuilder builder{ViewRule::Keep, "turns"};
  const trace::Output out{.size = {10}}, none{.size = {0}};
  std::vector<TensorId> made;
  for (const char* name : {"a", "b", "c"})
    made.push_back(builder.op({.name = name, .cost = {100}, .outputs = {&out, 1}}));
  builder.op({.name = "wait", .cost = {1}});  // so that no two are equally old
  for (int reads = 0; reads < 9; ++reads)
    builder.op({.name = "read",
                .cost = {1},
                .inputs = {&made[static_cast<std::size_t>(reads % 3)], 1},
                .outputs = {&none, 1}});
  const Trace trace = std::move(builder).finish();
  const ReplayOptions options{.budget = {20}, .limit = std::nullopt};
  const ReplayResult belady = run(trace, "belady", options), lru = run(trace, "lru", options);
  EXPECT_EQ(lru.counters.recomputes, 9u);     // every read misses
  EXPECT_EQ(belady.counters.recomputes, 4u);  // every other read
}

TEST(Replay, RefusesWhatDiedOfItsLastRelease) {
  trace::TraceBuilder builder{ViewRule::Rerun, "late.log"};
  const trace::Output out{.size = {10}};
  const TensorId early = builder.op({.name = "make", .cost = {1}, .outputs = {&out, 1}});
  builder.release(early);
  builder.op({.name = "use", .cost = {1}, .inputs = {&early, 1}, .outputs = {&out, 1}});
  const Trace trace = std::move(builder).finish();
  EXPECT_EQ(run(trace, "lru", {.budget = {20}}).counters.recomputes, 1u);
  EXPECT_THROW((void)run(trace, "lru", {.budget = {20}, .deallocation = Deallocation::Banish}),
               BadInput);
}

TEST(Replay, NeedsNoEvents) {
  trace::TraceBuilder builder{ViewRule::Keep, "empty"};
  const ReplayResult result = run(std::move(builder).finish(), "h_dtr", {.budget = {1}});
  EXPECT_EQ(result.status, Status::Ok);
  EXPECT_EQ(result.slowdown(), 1.0);
}

TEST(Replay, ShowsTheStateBeforeEachOpAndAtTheEnd) {
  const Trace trace = trace::linear_chain(5);
  std::vector<std::uint32_t> seen;
  Bytes most;
  const ReplayResult result =
      run(trace, "h_dtr_eq", {.budget = {3}, .watch = [&](std::uint32_t op, const Graph& graph) {
                                seen.push_back(op);
                                Bytes resident;
                                for (std::uint32_t i = 0; i < graph.storages(); ++i)
                                  if (graph[StorageId{i}].resident()) resident += Bytes{1};
                                most = std::max(most, resident);
                              }});
  EXPECT_EQ(result.status, Status::Ok);
  ASSERT_EQ(seen.size(), trace.ops.size() + 1);
  for (std::uint32_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i);
  EXPECT_GT(most, Bytes{0});
  EXPECT_LE(most, result.budget);
}

}  // namespace
}  // namespace weir::sim
