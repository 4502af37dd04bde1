// Storages that go to a tier instead of being made again.
#include <gmock/gmock.h>

#include "core/program.h"

namespace weir::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Options with_tier() { return {.budget = 100_B, .offload = true}; }

TEST(Offload, TakesWhatCannotBeMadeAgain) {
  Program program{with_tier()};
  const TensorId a = program.constant(60_B);
  program.op({}, 50_B);
  EXPECT_TRUE(program.offloaded(a));
  EXPECT_EQ(program.manager.counters().offloads, 1u);
  program.manager.check();
}

TEST(Offload, LeavesConstantsAloneWithoutATier) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.constant(60_B);
  EXPECT_THROW(program.op({}, 50_B), OutOfBudget);
  EXPECT_TRUE(program.resident(a));
}

TEST(Offload, IsPreferredToEvictingWhatIsDearToMakeAgain) {
  Program program{with_tier()};
  const TensorId dear = program.op({}, 10_B, 11_ns), cheap = program.op({}, 10_B, 9_ns);
  program.evict(dear);
  program.evict(cheap);
  EXPECT_TRUE(program.offloaded(dear));
  EXPECT_TRUE(program.evicted(cheap));
}

TEST(Offload, CountsWhatWouldHaveToBeMadeBefore) {
  Program program{with_tier()};
  const TensorId a = program.op({}, 10_B, 6_ns), b = program.op({a}, 10_B, 6_ns);
  program.evict(a);
  program.evict(b);
  EXPECT_TRUE(program.evicted(a));
  EXPECT_TRUE(program.offloaded(b));
}

TEST(Offload, TakesEverythingIfNothingMayBeMadeAgain) {
  Program program{{.budget = 100_B, .recompute = false, .offload = true}};
  const TensorId a = program.op({}, 10_B, 1_ns);
  program.evict(a);
  EXPECT_TRUE(program.offloaded(a));
  EXPECT_FALSE(program.storage(a).has_recipe());
}

TEST(Offload, NeverTakesWhatIsTooSmall) {
  Program program{{.budget = 100_B, .smallest = 10_B, .offload = true}};
  const TensorId small = program.constant(9_B), large = program.constant(10_B);
  EXPECT_FALSE(program.candidate(small));
  EXPECT_TRUE(program.candidate(large));
}

TEST(Fetch, BringsBackWhatAnOpReads) {
  Program program{with_tier()};
  const TensorId a = program.constant(60_B), b = program.op({}, 50_B);
  program.read({a});
  EXPECT_TRUE(program.resident(a));
  EXPECT_TRUE(program.storage(a).backed);
  EXPECT_FALSE(program.resident(b));
  EXPECT_EQ(program.manager.counters().fetches, 1u);
  EXPECT_THAT(program.replayed, IsEmpty());
}

TEST(Fetch, BringsBackWhatAReplayReads) {
  Program program{with_tier()};
  const TensorId a = program.constant(60_B), b = program.op({a}, 10_B);
  program.evict(b);
  program.evict(a);
  program.read({b});
  EXPECT_THAT(program.replayed, ElementsAre(program.maker(b)));
  EXPECT_TRUE(program.resident(a));
}

TEST(Backed, IsReclaimedForFree) {
  Program program{with_tier()};
  const TensorId a = program.constant(60_B);
  program.evict(a);
  program.read({a});
  program.evict(a);
  EXPECT_TRUE(program.offloaded(a));
  EXPECT_EQ(program.manager.counters().offloads, 1u);
}

TEST(Backed, IsWhatWasBackedUp) {
  Program program{with_tier()};
  const TensorId a = program.op({}, 60_B);
  {
    const Pin pin = program.keep(a);
    EXPECT_TRUE(program.manager.back_up(pin));
    EXPECT_TRUE(program.manager.back_up(pin));
    const Pin other = program.keep(a);
    EXPECT_FALSE(program.manager.back_up(pin));  // whoever has pinned it may be changing it
  }
  EXPECT_TRUE(program.resident(a));
  EXPECT_EQ(program.manager.counters().offloads, 1u);
  program.evict(a);
  EXPECT_TRUE(program.offloaded(a));
  EXPECT_EQ(program.manager.counters().offloads, 1u);
}

TEST(Backed, NeedsATier) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 60_B);
  const Pin pin = program.keep(a);
  EXPECT_FALSE(program.manager.back_up(pin));
  EXPECT_FALSE(program.storage(a).backed);
}

TEST(RetainEvicted, FindsWhatTheProgramRefersToAndNobodyHas) {
  Program program{with_tier()};
  const TensorId resident = program.op({}, 10_B), evicted = program.op({}, 10_B, 1_ns);
  const TensorId offloaded = program.constant(10_B), ghost = program.op({}, 10_B, 1_ns);
  program.op({ghost}, 10_B);
  for (TensorId tensor : {evicted, offloaded, ghost}) program.evict(tensor);
  program.release(ghost);
  ASSERT_TRUE(program.resident(resident) && program.offloaded(offloaded));
  EXPECT_THAT(program.manager.retain_evicted(), ElementsAre(evicted));
  program.release(evicted);
  EXPECT_EQ(program.storage(evicted).references, 1u);
}

TEST(Backed, IsOverWhenItChanges) {
  Program program{with_tier()};
  const TensorId a = program.constant(60_B);
  program.evict(a);
  program.change({a});
  EXPECT_FALSE(program.storage(a).backed);
  EXPECT_THAT(program.copies, IsEmpty());
}

TEST(Backed, IsOverWhenItDies) {
  Program program{with_tier()};
  const TensorId a = program.constant(60_B);
  program.evict(a);
  program.release(a);
  EXPECT_TRUE(program.dead(a));
  EXPECT_THAT(program.copies, IsEmpty());
}

// A copy is not thrown away for the sake of a recipe.
TEST(Backed, IsOffloadedRatherThanEvictedWhenItIsReleased) {
  Program program{with_tier()};
  const TensorId a = program.op({}, 10_B, 50_ns), b = program.op({a}, 10_B);
  program.evict(a);
  program.read({a});
  program.release(a);
  EXPECT_TRUE(program.offloaded(a));
  EXPECT_TRUE(program.resident(b));
  EXPECT_EQ(program.copies.size(), 1u);
}

TEST(FullTier, MakesAStorageHomelessAndNoCandidate) {
  Program program{with_tier()};
  program.room = 50_B;
  const TensorId a = program.constant(60_B), b = program.constant(40_B);
  const Charge more = program.manager.allocate(30_B);
  EXPECT_TRUE(program.storage(a).homeless);
  EXPECT_FALSE(program.candidate(a));
  EXPECT_TRUE(program.offloaded(b));
}

TEST(FullTier, LeavesEvictionToWhatCanBeMadeAgain) {
  Program program{with_tier()};
  program.room = 0_B;
  const TensorId a = program.op({}, 60_B, 50_ns);
  program.evict(a);
  EXPECT_TRUE(program.evicted(a));
}

TEST(FullTier, HasRoomAgainWhenACopyIsDiscarded) {
  Program program{with_tier()};
  program.room = 60_B;
  const TensorId a = program.constant(60_B), b = program.constant(40_B);
  program.evict(a);
  EXPECT_THROW(program.op({}, 70_B), OutOfBudget);
  EXPECT_TRUE(program.storage(b).homeless);
  program.release(a);
  EXPECT_FALSE(program.storage(b).homeless);
  EXPECT_TRUE(program.candidate(b));
  program.manager.check();
}

TEST(BrokenTier, LeavesAnOffloadedStorageWhereItIs) {
  Program program{with_tier()};
  const TensorId a = program.constant(60_B);
  program.evict(a);
  program.broken = true;
  EXPECT_THROW(program.read({a}), TierError);
  EXPECT_TRUE(program.offloaded(a));
  EXPECT_EQ(program.manager.ledger().used(), 0_B);
  EXPECT_EQ(program.all_pins(), 0u);
  program.manager.check();
  program.broken = false;
  program.read({a});
  EXPECT_TRUE(program.resident(a));
}

TEST(BrokenTier, CanBeAskedAgainWithTheSameTicket) {
  Program program{with_tier()};
  const TensorId a = program.constant(60_B), b = program.op({a}, 10_B);
  program.evict(b);
  program.evict(a);
  Ticket ticket = program.begin({b});
  program.broken = true;
  EXPECT_THROW(program.manager.next(ticket), TierError);
  program.manager.check();
  program.broken = false;
  program.restore(ticket);
  program.manager.end(std::move(ticket));
  EXPECT_TRUE(program.resident(b));
}

TEST(BrokenTier, LeavesAResidentStorageWhereItIs) {
  Program program{with_tier()};
  const TensorId a = program.constant(60_B);
  program.broken = true;
  EXPECT_THROW(program.op({}, 50_B), TierError);
  EXPECT_TRUE(program.resident(a));
  EXPECT_FALSE(program.storage(a).backed);
  EXPECT_TRUE(program.candidate(a));
  EXPECT_EQ(program.manager.ledger().used(), 60_B);
  program.manager.check();
}

}  // namespace
}  // namespace weir::core
