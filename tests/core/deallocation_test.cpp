// What happens to what the program has let go of.
#include <gmock/gmock.h>

#include "core/program.h"

namespace weir::core {
namespace {

using testing::ElementsAre;

Options with(Deallocation rule) { return {.budget = 100_B, .deallocation = rule}; }

TEST(Ignore, LeavesAReleasedStorageWhereItIs) {
  Program program{with(Deallocation::Ignore)};
  const TensorId a = program.op({}, 10_B);
  program.release(a);
  EXPECT_TRUE(program.resident(a));
  EXPECT_EQ(program.manager.counters().releases, 0u);
}

TEST(EagerEvict, EvictsAtTheLastRelease) {
  Program program{with(Deallocation::EagerEvict)};
  const TensorId a = program.op({}, 10_B);
  program.op({a}, 10_B);
  program.manager.retain(a);
  program.release(a);
  EXPECT_TRUE(program.resident(a));
  program.release(a);
  EXPECT_TRUE(program.evicted(a));
  EXPECT_EQ(program.manager.counters().releases, 1u);
  EXPECT_EQ(program.manager.counters().evictions, 0u);
}

TEST(EagerEvict, KeepsTheRecipeForThoseMadeFromIt) {
  Program program{with(Deallocation::EagerEvict)};
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B);
  program.release(a);
  program.evict(b);
  program.read({b});
  EXPECT_THAT(program.replayed, ElementsAre(program.maker(a), program.maker(b)));
}

TEST(EagerEvict, LeavesPinnedStorages) {
  Program program{with(Deallocation::EagerEvict)};
  const TensorId a = program.op({}, 10_B);
  const Pin pin = program.keep(a);
  program.release(a);
  EXPECT_TRUE(program.resident(a));
}

TEST(Banish, KillsAtTheLastReleaseAndSticksWhatWasMadeFromIt) {
  Program program{with(Deallocation::Banish)};
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B);
  program.release(a);
  EXPECT_TRUE(program.dead(a));
  EXPECT_TRUE(program.resident(b));
  EXPECT_FALSE(program.candidate(b));
  EXPECT_EQ(program.manager.counters().releases, 1u);
}

TEST(Banish, FreesConstants) {
  Program program{with(Deallocation::Banish)};
  const TensorId a = program.constant(10_B);
  program.release(a);
  EXPECT_TRUE(program.dead(a));
  EXPECT_EQ(program.manager.ledger().used(), 0_B);
}

TEST(Banish, WaitsWhileSomethingEvictedNeedsIt) {
  Program program{with(Deallocation::Banish)};
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B);
  program.evict(b);
  program.release(a);
  EXPECT_TRUE(program.resident(a));
}

// Found by the twin: the inputs were still pinned when this was tried, so it never happened.
TEST(Banish, TriesAgainWhenWhatNeededItIsBack) {
  Program program{with(Deallocation::Banish)};
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B);
  program.evict(b);
  program.release(a);
  program.read({b});
  EXPECT_TRUE(program.dead(a));
  EXPECT_FALSE(program.candidate(b));
}

TEST(Banish, KillsAnInputThatWasReleasedWhileItsReaderRan) {
  Program program{with(Deallocation::Banish)};
  const TensorId a = program.op({}, 10_B);
  Ticket ticket = program.begin({a}, {{10_B}});
  program.restore(ticket);
  program.release(a);
  EXPECT_TRUE(program.resident(a));
  ticket.deliver(0, program.manager.allocate(10_B));
  program.manager.end(std::move(ticket));
  EXPECT_TRUE(program.dead(a));
}

// Found by the twin: a dead sibling counted as missing, and its input stayed for ever.
TEST(Banish, DoesNotWaitForDeadSiblings) {
  Program program{with(Deallocation::Banish)};
  const TensorId a = program.op({}, 10_B);
  const std::vector<TensorId> made = program.op_with({a}, {{10_B}, {10_B}});
  program.release(made[1]);
  EXPECT_TRUE(program.dead(made[1]));
  program.release(a);
  EXPECT_TRUE(program.dead(a));
}

TEST(Step, LetsDieWhatNothingCanNeed) {
  Program program{with(Deallocation::EagerEvict)};
  const TensorId a = program.constant(10_B), b = program.op({a}, 10_B), c = program.op({b}, 10_B);
  program.release(a);
  program.release(b);
  program.release(c);
  program.manager.end_step();
  EXPECT_TRUE(program.dead(a));
  EXPECT_TRUE(program.dead(b));
  EXPECT_TRUE(program.dead(c));
  EXPECT_EQ(program.manager.ledger().used(), 0_B);
}

TEST(Step, KeepsWhatALivingStorageCouldHaveToBeMadeFrom) {
  Program program{with(Deallocation::EagerEvict)};
  const TensorId a = program.constant(10_B), b = program.op({a}, 10_B), c = program.op({b}, 10_B);
  program.evict(c);
  program.release(b);
  program.release(a);
  program.manager.end_step();
  EXPECT_TRUE(program.resident(a));
  EXPECT_TRUE(program.evicted(b));
  program.read({c});
  EXPECT_TRUE(program.resident(c));
}

TEST(Step, LetsTheInputsOfAStuckStorageDie) {
  Program program{with(Deallocation::EagerEvict)};
  const TensorId a = program.constant(10_B), b = program.impure_op({a}, 10_B);
  program.release(a);
  program.manager.end_step();
  EXPECT_TRUE(program.dead(a));
  EXPECT_TRUE(program.resident(b));
}

TEST(Step, KeepsWhatAnOpOnItsWayHolds) {
  Program program{with(Deallocation::EagerEvict)};
  const TensorId a = program.op({}, 10_B);
  Ticket ticket = program.begin({a}, {{10_B}});
  program.restore(ticket);
  program.release(a);
  program.manager.end_step();
  EXPECT_TRUE(program.resident(a));
  ticket.deliver(0, program.manager.allocate(10_B));
  program.manager.end(std::move(ticket));
  program.manager.check();
}

}  // namespace
}  // namespace weir::core
