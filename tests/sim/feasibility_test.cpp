#include "sim/feasibility.h"

#include <gtest/gtest.h>

#include "trace/builder.h"
#include "trace/generate.h"
#include "trace/info.h"

namespace weir::sim {
namespace {

using trace::Output;
using trace::TraceBuilder;

TEST(Floor, IsTheConstantsAndTheLargestOp) {
  TraceBuilder builder{ViewRule::Keep, "t"};
  const Output five{.size = {5}}, seven{.size = {7}};
  const TensorId w = builder.constant({100});
  const TensorId a = builder.op({.name = "a", .inputs = {&w, 1}, .outputs = {&five, 1}});
  const TensorId twice[] = {a, a, w};  // counted once each, the constant not again
  builder.op({.name = "b", .inputs = twice, .outputs = {&seven, 1}});
  EXPECT_EQ(floor_of(std::move(builder).finish()).n, 100 + 5 + 7);
}

TEST(Floor, IsTheConstantsAndAllThatIsKept) {
  TraceBuilder builder{ViewRule::Keep, "t"};
  const Output five{.size = {5}};
  builder.constant({100});
  for (int i = 0; i < 4; ++i) builder.keep(builder.op({.name = "f", .outputs = {&five, 1}}));
  EXPECT_EQ(floor_of(std::move(builder).finish()).n, 100 + 4 * 5);
}

TEST(Floor, CountsScratch) {
  TraceBuilder builder{ViewRule::Keep, "t"};
  const Output five{.size = {5}};
  builder.constant({100});
  builder.op({.name = "f", .outputs = {&five, 1}, .scratch = {20}});
  const Trace trace = std::move(builder).finish();
  EXPECT_EQ(floor_of(trace).n, 100 + 5 + 20);
  EXPECT_EQ(replay(trace, find_policy("lru"), {.budget = {125}}).status, Status::Ok);
}

TEST(Floor, ForgetsAConstantThatIsReleased) {
  TraceBuilder builder{ViewRule::Keep, "t"};
  builder.release(builder.constant({100}));
  builder.constant({60});
  EXPECT_EQ(floor_of(std::move(builder).finish()).n, 100);
}

TEST(Floor, CountsAViewAsItsStorage) {
  TraceBuilder builder{ViewRule::Keep, "t"};
  const Output five{.size = {5}}, view{.view_of = 0};
  const TensorId a = builder.op({.name = "a", .outputs = {&five, 1}});
  const TensorId v = builder.op({.name = "view", .inputs = {&a, 1}, .outputs = {&view, 1}});
  const TensorId both[] = {a, v};
  builder.op({.name = "b", .inputs = both, .outputs = {&five, 1}});
  EXPECT_EQ(floor_of(std::move(builder).finish()).n, 5 + 5);
}

TEST(Floor, IsNotAboveThePeakAndNothingFinishesBelowIt) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Trace trace = seed % 2 == 0 ? trace::training_step(seed) : trace::random_log_trace(seed);
    const Bytes floor = floor_of(trace);
    EXPECT_LE(floor, trace::liveness_peak(trace)) << "seed " << seed;
    for (Deallocation deallocation :
         {Deallocation::Ignore, Deallocation::EagerEvict, Deallocation::Banish})
      EXPECT_NE(replay(trace, find_policy("h_dtr_eq"),
                       {.budget = floor - Bytes{1}, .deallocation = deallocation})
                    .status,
                Status::Ok)
          << "seed " << seed;
  }
}

TEST(Budgets, GoFromTheFloorToTwiceThePeak) {
  const std::vector<Bytes> budgets = budgets_from_floor({33}, {100}, 0.25);
  EXPECT_EQ(budgets, (std::vector<Bytes>{{33}, {50}, {75}, {100}, {125}, {150}, {175}, {200}}));
  EXPECT_EQ(budgets_from_floor({300}, {100}, 0.25), (std::vector<Bytes>{{300}}));
  EXPECT_EQ(budgets_from_floor({0}, {0}, 0.25), (std::vector<Bytes>{{1}}));
}

TEST(Smallest, IsTheFirstBudgetThatFinishes) {
  const Trace trace = trace::linear_chain(64);
  const PolicyEntry& policy = find_policy("h_dtr_eq");
  const std::vector<Bytes> budgets = budgets_from_floor({3}, {64}, 1.0 / 64);
  const auto found = smallest_that_finishes(trace, policy, {.budget = {}, .limit = 2.0}, budgets);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->status, Status::Ok);
  EXPECT_NE(replay(trace, policy, {.budget = found->budget - Bytes{1}}).status, Status::Ok);
  EXPECT_FALSE(smallest_that_finishes(trace, policy, {.budget = {}, .limit = 2.0},
                                      std::vector<Bytes>{{1}, {2}}));
}

TEST(Smallest, IsFoundForEachCaseWhateverTheThreads) {
  std::vector<Trace> traces;
  traces.push_back(trace::linear_chain(64));
  traces.push_back(trace::binary_tree(5));
  SweepOptions options{.budgets = {},
                       .policies = {&find_policy("h_dtr_eq"), &find_policy("lru")},
                       .restores = {RestoreOrder::DepthFirst, RestoreOrder::Lean}};
  const std::vector<Smallest> alone = smallest_budgets(traces, options, 0.05);
  options.jobs = 3;
  const std::vector<Smallest> together = smallest_budgets(traces, options, 0.05);
  ASSERT_EQ(alone.size(), 8u);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    ASSERT_TRUE(alone[i].run && together[i].run);
    EXPECT_EQ(alone[i].of, together[i].of);
    EXPECT_EQ(alone[i].run->budget, together[i].run->budget);
  }
  EXPECT_EQ(alone[0].of.restore, RestoreOrder::DepthFirst);
  EXPECT_EQ(alone[2].of.restore, RestoreOrder::Lean);
}

}  // namespace
}  // namespace weir::sim
