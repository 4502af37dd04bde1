#include "tier/counted_tier.h"
#include "tier/faulty_tier.h"
#include "tier/memory_tier.h"
#include "tier/testing.h"
#include "tier/throttled_tier.h"

namespace weir::tier {
namespace {

using namespace literals;

constexpr Link kLink{.write = {100_ns, 2.0}, .read = {50_ns, 4.0}};

TEST(ThrottledTier, IsDoneWhenItsTimeOnTheLinkHasPassed) {
  FakeClock clock;
  MemoryTier memory{1_KiB};
  ThrottledTier tier{memory, kLink, clock};
  const Slot slot = must_reserve(tier, 200_B);
  const std::vector<std::byte> bytes = content(1, 200_B);
  const Nanos start = clock.now();
  Transfer transfer = tier.write(slot, bytes);
  EXPECT_FALSE(transfer.done());
  transfer.wait();
  EXPECT_TRUE(transfer.done());
  EXPECT_EQ(clock.now() - start, 200_ns);
  EXPECT_EQ(get(tier, slot), bytes);
  EXPECT_EQ(clock.now() - start, 300_ns);
  EXPECT_EQ(tier.link(), kLink);
}

TEST(ThrottledTier, CarriesOneTransferAtATimeEachWay) {
  FakeClock clock;
  MemoryTier memory{1_KiB};
  ThrottledTier tier{memory, kLink, clock};
  const Slot a = must_reserve(tier, 200_B), b = must_reserve(tier, 200_B);
  const std::vector<std::byte> bytes = content(1, 200_B);
  std::vector<std::byte> back(200);
  const Nanos start = clock.now();
  Transfer first = tier.write(a, bytes), second = tier.write(b, bytes), third = tier.read(a, back);
  third.wait();
  EXPECT_EQ(clock.now() - start, 100_ns);
  second.wait();
  EXPECT_EQ(clock.now() - start, 400_ns);
  EXPECT_TRUE(first.done());
}

TEST(Transfer, IsWaitedForWhenItIsDestroyedOrReplaced) {
  FakeClock clock;
  MemoryTier memory{1_KiB};
  ThrottledTier tier{memory, kLink, clock};
  const Slot slot = must_reserve(tier, 200_B);
  const std::vector<std::byte> bytes = content(1, 200_B);
  const Nanos start = clock.now();
  { const Transfer dropped = tier.write(slot, bytes); }
  EXPECT_EQ(clock.now() - start, 200_ns);
  Transfer replaced = tier.write(slot, bytes);
  replaced = Transfer{};
  EXPECT_EQ(clock.now() - start, 400_ns);
  EXPECT_TRUE(replaced.done());
}

TEST(CountedTier, CountsBytesTransfersAndTheTimeCallersWaited) {
  FakeClock clock;
  MemoryTier memory{1_KiB};
  ThrottledTier slow{memory, kLink, clock};
  CountedTier tier{slow, clock};
  const Slot slot = must_reserve(tier, 200_B);
  put(tier, slot, content(1, 200_B));
  put(tier, slot, content(2, 200_B));
  (void)get(tier, slot);
  const TierCounters expected{
      .writes = {.transfers = 2, .moved = 400_B, .blocked = 400_ns},
      .reads = {.transfers = 1, .moved = 200_B, .blocked = 100_ns},
  };
  EXPECT_EQ(tier.counters(), expected);
}

TEST(CountedTier, CountsATransferThatWasNotWaitedFor) {
  MemoryTier memory{1_KiB};
  CountedTier tier{memory};
  const Slot slot = must_reserve(tier, 10_B);
  const std::vector<std::byte> bytes = content(1, 10_B);
  { const Transfer dropped = tier.write(slot, bytes); }
  EXPECT_EQ(tier.counters().writes.moved, 10_B);
}

TEST(CountedTier, CountsNoBytesForAFailure) {
  MemoryTier memory{1_KiB};
  FaultyTier broken{memory, {.write = 1}};
  CountedTier tier{broken};
  const Slot slot = must_reserve(tier, 10_B);
  EXPECT_THROW(put(tier, slot, content(1, 10_B)), TierError);
  EXPECT_EQ(tier.counters().writes.failures, 1u);
  EXPECT_EQ(tier.counters().writes.transfers, 0u);
  EXPECT_EQ(tier.counters().writes.moved, 0_B);
}

TEST(FaultyTier, FailsTheNthCallOfEachKindAndNoOther) {
  MemoryTier memory{1_KiB};
  FaultyTier tier{memory, {.reserve = 2, .write = 1, .read = 2}};
  const Slot slot = must_reserve(tier, 10_B);
  EXPECT_THROW((void)tier.reserve(10_B), TierError);
  EXPECT_EQ(tier.used(), 10_B);
  const std::vector<std::byte> bytes = content(1, 10_B);
  EXPECT_THROW(put(tier, slot, bytes), TierError);
  put(tier, slot, bytes);
  EXPECT_EQ(get(tier, slot), bytes);
  EXPECT_THROW((void)get(tier, slot), TierError);
  EXPECT_EQ(get(tier, slot), bytes);
  EXPECT_TRUE(tier.reserve(10_B));
}

TEST(FaultyTier, TellsOfAFailureOnceAndOnlyWhenAsked) {
  MemoryTier memory{1_KiB};
  FaultyTier tier{memory, {.write = 1}};
  const Slot slot = must_reserve(tier, 10_B);
  const std::vector<std::byte> bytes = content(1, 10_B);
  Transfer transfer = tier.write(slot, bytes);
  EXPECT_TRUE(transfer.done());
  EXPECT_THROW(transfer.wait(), TierError);
  EXPECT_NO_THROW(transfer.wait());
}

}  // namespace
}  // namespace weir::tier
