// What comes back, in which order, and what stays while it does. Both restore orders.
#include <gmock/gmock.h>

#include "core/program.h"

namespace weir::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Restore : public testing::TestWithParam<RestoreOrder> {
 protected:
  Options options(Bytes budget) const { return {.budget = budget, .restore = GetParam()}; }
};

TEST_P(Restore, RunsNothingAgainWhileEverythingIsThere) {
  Program program{options(100_B)};
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B);
  program.op({a, b}, 10_B);
  EXPECT_THAT(program.replayed, IsEmpty());
}

TEST_P(Restore, RunsTheMakerOfAnEvictedInputAgain) {
  Program program{options(100_B)};
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B);
  program.evict(b);
  EXPECT_TRUE(program.evicted(b));
  program.read({b});
  EXPECT_TRUE(program.resident(b));
  EXPECT_THAT(program.replayed, ElementsAre(program.maker(b)));
  EXPECT_EQ(program.manager.counters().recomputes, 1u);
}

TEST_P(Restore, GoesBackAsFarAsItMust) {
  Program program{options(100_B)};
  const TensorId a = program.constant(10_B), b = program.op({a}, 10_B), c = program.op({b}, 10_B),
                 d = program.op({c}, 10_B);
  program.evict(c);
  program.evict(d);
  program.read({d});
  EXPECT_THAT(program.replayed, ElementsAre(program.maker(c), program.maker(d)));
}

TEST_P(Restore, RunsAMakerOnceForSeveralReaders) {
  Program program{options(100_B)};
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B), c = program.op({a}, 10_B);
  program.evict(a);
  program.evict(b);
  program.evict(c);
  program.read({b, c});
  EXPECT_EQ(std::ranges::count(program.replayed, program.maker(a)), 1);
  EXPECT_EQ(program.replayed.size(), 3u);
}

TEST_P(Restore, TakesTheSameInputTwice) {
  Program program{options(100_B)};
  const TensorId a = program.op({}, 10_B);
  program.evict(a);
  program.read({a, a});
  EXPECT_THAT(program.replayed, ElementsAre(program.maker(a)));
  EXPECT_EQ(program.all_pins(), 0u);
}

TEST_P(Restore, BringsBackATensorWantedOutsideOfAnyOp) {
  Program program{options(100_B)};
  const TensorId a = program.op({}, 10_B);
  program.evict(a);
  const Pin pin = program.keep(a);
  EXPECT_TRUE(program.resident(a));
  EXPECT_THAT(program.replayed, ElementsAre(program.maker(a)));
}

TEST_P(Restore, HandsOutOneOpAtATimeAndTakesItAsDoneAtTheNextCall) {
  Program program{options(100_B)};
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B);
  program.evict(a);
  program.evict(b);
  Ticket ticket = program.begin({b});
  const OpRecord* first = program.manager.next(ticket);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->tag, program.maker(a));
  ticket.deliver(0, program.manager.allocate(10_B));
  EXPECT_FALSE(program.resident(a));  // not before the next call
  const OpRecord* second = program.manager.next(ticket);
  EXPECT_TRUE(program.resident(a));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->tag, program.maker(b));
  ticket.deliver(0, program.manager.allocate(10_B));
  EXPECT_EQ(program.manager.next(ticket), nullptr);
  EXPECT_EQ(program.manager.next(ticket), nullptr);  // and stays so
  program.manager.end(std::move(ticket));
  EXPECT_EQ(program.all_pins(), 0u);
}

TEST_P(Restore, HoldsTheInputsOfTheOpThatRuns) {
  Program program{options(100_B)};
  const TensorId a = program.op({}, 10_B), b = program.op({}, 10_B);
  Ticket ticket = program.begin({a, b});
  program.restore(ticket);
  EXPECT_EQ(program.storage(a).pins, 1u);
  EXPECT_EQ(program.storage(b).pins, 1u);
  EXPECT_THROW((void)program.manager.allocate(90_B), OutOfBudget);
  EXPECT_TRUE(program.resident(a));
  program.manager.end(std::move(ticket));
  EXPECT_NO_THROW((void)program.manager.allocate(90_B));
}

TEST_P(Restore, CountsTimeOnlyForReads) {
  Program program{options(100_B)};
  const TensorId a = program.op({}, 10_B, 5_ns);
  EXPECT_EQ(program.storage(a).last_use, program.clock);
  program.op({}, 10_B, 7_ns);
  EXPECT_EQ(program.storage(a).last_use, program.clock - 7_ns);
  program.read({a});
  EXPECT_EQ(program.storage(a).last_use, program.clock - 1_ns);  // when the op was queued
}

TEST_P(Restore, BringsAllOutputsOfAnOpBackAtOnce) {
  Program program{options(100_B)};
  const std::vector<TensorId> made = program.op_with({}, {{10_B}, {20_B}});
  program.evict(made[0]);
  program.evict(made[1]);
  program.read({made[1]});
  EXPECT_TRUE(program.resident(made[0]));
  EXPECT_TRUE(program.resident(made[1]));
  EXPECT_EQ(program.manager.counters().recomputes, 1u);
}

TEST_P(Restore, DropsASiblingThatWasThereAllTheTime) {
  Program program{options(100_B)};
  const std::vector<TensorId> made = program.op_with({}, {{10_B}, {20_B}});
  program.evict(made[0]);
  EXPECT_EQ(program.manager.ledger().used(), 20_B);
  program.read({made[0]});
  EXPECT_EQ(program.manager.ledger().used(), 30_B);  // computed twice, kept once
  program.manager.check();
}

TEST_P(Restore, NeedsRoomForASiblingThatIsDropped) {
  Program program{options(70_B)};
  const std::vector<TensorId> made = program.op_with({}, {{10_B}, {50_B}});
  program.evict(made[0]);
  const Pin pin = program.keep(made[1]);
  EXPECT_THROW(program.read({made[0]}), OutOfBudget);
  program.manager.check();
}

TEST_P(Restore, NeverBringsBackWhatAnImpureOpMade) {
  Program program{options(100_B)};
  const TensorId a = program.impure_op({}, 60_B);
  EXPECT_FALSE(program.candidate(a));
  EXPECT_THROW(program.op({}, 50_B), OutOfBudget);
  EXPECT_TRUE(program.resident(a));
}

TEST_P(Restore, EvictsAndBringsBackStoragesWithoutBytes) {
  Program program{options(100_B)};
  const TensorId empty = program.op({}, 0_B), a = program.op({empty}, 60_B);
  program.op({}, 100_B);
  EXPECT_TRUE(program.evicted(a));
  program.read({a});
  EXPECT_TRUE(program.resident(a));
  program.manager.check();
}

// Fewer ops where every call verifies the whole state.
#ifdef WEIR_CHECK_FULL
constexpr int kLongChain = 1000;
#else
constexpr int kLongChain = 100'000;
#endif

TEST_P(Restore, BringsBackALongChainWithoutRecursion) {
  Program program{options(Bytes{kLongChain + 1})};
  std::vector<TensorId> chain{program.constant(1_B)};
  for (int i = 0; i < kLongChain; ++i) chain.push_back(program.op({chain.back()}, 1_B));
  for (std::size_t i = 1; i + 1 < chain.size(); ++i) program.release(chain[i]);
  program.evict(chain.back());
  EXPECT_EQ(program.manager.ledger().used(), 1_B);
  program.read({chain.back()});
  EXPECT_EQ(program.replayed.size(), static_cast<std::size_t>(kLongChain));
  EXPECT_TRUE(program.resident(chain.back()));
}

TEST_P(Restore, BringsBackALongChainInAFewBytes) {
  Program program{options(4_B)};
  TensorId last = program.constant(1_B);
  for (int i = 0; i < kLongChain; ++i) {
    const TensorId next = program.op({last}, 1_B);
    if (i != 0) program.release(last);
    last = next;
  }
  program.evict(last);
  program.read({last});
  EXPECT_EQ(program.replayed.size(), static_cast<std::size_t>(kLongChain));
  EXPECT_LE(program.manager.ledger().peak(), 4_B);
}

INSTANTIATE_TEST_SUITE_P(Orders, Restore,
                         testing::Values(RestoreOrder::DepthFirst, RestoreOrder::Lean),
                         [](const testing::TestParamInfo<RestoreOrder>& order) {
                           return order.param == RestoreOrder::Lean ? "Lean" : "DepthFirst";
                         });

}  // namespace
}  // namespace weir::core
