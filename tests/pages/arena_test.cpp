// What a block is promised: its address, its contents, and pages within the cap.
#include "pages/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "pages/system.h"

namespace weir::pages {
namespace {

using namespace literals;

void fill(Block& block, int value) { std::memset(block.address, value, block.span().bytes()); }

bool has(const Block& block, int value) {
  const std::vector<std::byte> all(block.span().bytes(), static_cast<std::byte>(value));
  return std::memcmp(block.address, all.data(), all.size()) == 0;
}

std::vector<Block*> allocate(Arena& arena, std::size_t count, Bytes size) {
  std::vector<Block*> blocks(count);
  for (Block*& block : blocks) block = &arena.allocate(size);
  return blocks;
}

std::uintptr_t number(const Block& block) {
  return reinterpret_cast<std::uintptr_t>(block.address);
}

TEST(Arena, GivesWholePages) {
  Arena arena{1_MiB};
  EXPECT_EQ(arena.allocate(0_B).pages, 1u);
  EXPECT_EQ(arena.allocate(1_B).pages, 1u);
  EXPECT_EQ(arena.allocate(4096_B).pages, 1u);
  EXPECT_EQ(arena.allocate(4097_B).pages, 2u);
  EXPECT_EQ(arena.in_use(), 20_KiB);
  EXPECT_EQ(arena.committed(), 20_KiB);
}

TEST(Arena, AlignsWhereItIsAsked) {
  Arena arena{64_MiB};
  for (int i = 0; i < 3; ++i) {
    arena.allocate(12_KiB);
    EXPECT_EQ(number(arena.allocate(64_KiB, 64_KiB)) % (64 << 10), 0u);
    arena.free(arena.allocate(300_KiB));
    EXPECT_EQ(number(arena.allocate(192_KiB, 64_KiB)) % (64 << 10), 0u);
    arena.check();
  }
}

TEST(Arena, AReservedAddressHasNoPagesUntilItIsRestored) {
  Arena arena{1_MiB};
  Block& full = arena.allocate(1_MiB);
  Block& reserved = *arena.reserve(300_KiB);
  EXPECT_EQ(arena.committed(), 1_MiB);
  EXPECT_TRUE(faults_on_read(reserved.address));
  EXPECT_TRUE(faults_on_read(reserved.span().end() - 1));
  EXPECT_EQ(arena.find(reserved.address + 100), &reserved);
  arena.free(full);
  EXPECT_FALSE(arena.restore(reserved));
  fill(reserved, 5);
  EXPECT_TRUE(has(reserved, 5));
  EXPECT_LE(arena.committed(), 1_MiB);
  arena.free(reserved);
  arena.check();
}

// Addresses that were opened for small blocks must not be taken for it.
TEST(Arena, AReservedAddressFaultsWhereverBlocksWere) {
  Arena arena{1_MiB};
  for (int round = 0; round < 3; ++round) {
    for (Block* block : allocate(arena, 20, 12_KiB)) arena.free(*block);
    arena.give_back_free();
    for (int i = 0; i < 40; ++i) {
      Block& reserved = *arena.reserve(12_KiB);
      ASSERT_TRUE(faults_on_read(reserved.address));
      if (i % 2 == 0) arena.free(reserved);
    }
    arena.check();
  }
}

TEST(Arena, SaysWhenThereAreNoMoreAddressesToReserve) {
  Arena arena{1_MiB, {.address_space = 256_MiB}};
  const Bytes all{static_cast<std::int64_t>(arena.addresses().bytes())};
  Block* most = arena.reserve({all.n - 4096});
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(arena.reserve(8_KiB), nullptr);
  arena.free(*most);
  EXPECT_NE(arena.reserve(8_KiB), nullptr);
  arena.check();
}

TEST(Arena, CutsWhatItNeedsFromAFreeBlock) {
  Arena arena{1_MiB};
  Block& large = arena.allocate(1_MiB);
  std::byte* address = large.address;
  fill(large, 1);
  arena.free(large);
  EXPECT_EQ(arena.allocate(100_KiB).address, address);
  EXPECT_EQ(arena.allocate(300_KiB).address, address + (100 << 10));
  EXPECT_EQ(arena.counters().commits, 256u);
  EXPECT_EQ(arena.counters().moves, 0u);
}

TEST(Arena, FreeNeighboursAreOneBlock) {
  Arena arena{1_MiB};
  const std::vector<Block*> blocks = allocate(arena, 16, 64_KiB);
  std::byte* address = blocks[0]->address;
  for (const std::size_t i : {3u, 1u, 2u, 0u, 15u, 5u, 7u, 6u, 4u, 9u, 8u, 10u, 14u, 12u, 11u, 13u})
    arena.free(*blocks[i]);
  arena.check();
  EXPECT_EQ(arena.allocate(1_MiB).address, address);
  EXPECT_EQ(arena.counters().moves, 0u);
}

TEST(Arena, UsesAFreeBlockOfTheSameSizeAgainWithoutASystemCall) {
  Arena arena{1_MiB};
  Block& first = arena.allocate(64_KiB);
  std::byte* address = first.address;
  fill(first, 1);
  arena.free(first);
  const Block& second = arena.allocate(64_KiB);
  EXPECT_EQ(second.address, address);
  EXPECT_EQ(arena.counters().reuses, 1u);
  EXPECT_EQ(arena.counters().commits, 16u);
}

TEST(Arena, UsesTheWarmestFreeBlockFirst) {
  Arena arena{1_MiB};
  Block& a = arena.allocate(8_KiB);
  arena.allocate(4_KiB);
  Block& b = arena.allocate(8_KiB);
  arena.allocate(4_KiB);
  std::byte* warm = a.address;
  arena.free(b);
  arena.free(a);
  EXPECT_EQ(arena.allocate(8_KiB).address, warm);
}

TEST(Arena, KeepsThePagesOfAnEvictedBlockUntilTheyAreNeeded) {
  Arena arena{64_KiB};
  Block& block = arena.allocate(32_KiB);
  fill(block, 7);
  arena.evict(block);
  EXPECT_EQ(arena.in_use(), 0_B);
  EXPECT_TRUE(has(block, 7));
  EXPECT_TRUE(arena.restore(block));
  EXPECT_TRUE(has(block, 7));
  EXPECT_EQ(arena.counters().moves, 0u);
}

TEST(Arena, TakesThePagesOfAnEvictedBlockAndLetsItsReadersFault) {
  Arena arena{32_KiB};
  Block& gone = arena.allocate(32_KiB);
  fill(gone, 7);
  arena.evict(gone);
  Block& next = arena.allocate(32_KiB);
  EXPECT_NE(next.address, gone.address);
  fill(next, 8);
  EXPECT_TRUE(faults_on_read(gone.address));
  EXPECT_TRUE(faults_on_read(gone.span().end() - 1));
  EXPECT_EQ(arena.committed(), 32_KiB);
  arena.evict(next);
  EXPECT_FALSE(arena.restore(gone));
  fill(gone, 9);
  EXPECT_TRUE(has(gone, 9));
  EXPECT_TRUE(faults_on_read(next.address));
}

TEST(Arena, LetsEveryAccessToABlockFaultOfWhichSomePagesWereTaken) {
  Arena arena{1_MiB};
  Block& large = arena.allocate(1_MiB);
  fill(large, 7);
  arena.evict(large);
  Block& small = arena.allocate(128_KiB);
  fill(small, 1);
  EXPECT_TRUE(faults_on_read(large.address));
  EXPECT_TRUE(faults_on_read(large.span().end() - 1));
  arena.free(small);
  EXPECT_FALSE(arena.restore(large));
  fill(large, 2);
  EXPECT_TRUE(has(large, 2));
}

TEST(Arena, TakesFromFreeBlocksBeforeEvictedOnes) {
  Arena arena{128_KiB};
  Block& evicted = arena.allocate(64_KiB);
  Block& free = arena.allocate(64_KiB);
  fill(evicted, 7);
  arena.evict(evicted);
  arena.free(free);
  arena.allocate(40_KiB);
  EXPECT_TRUE(arena.restore(evicted));
  EXPECT_TRUE(has(evicted, 7));
}

TEST(Arena, MakesOneBlockOfThePagesOfMany) {
  Arena arena{1_MiB};
  std::vector<Block*> small = allocate(arena, 16, 32_KiB);
  for (Block* block : allocate(arena, 4, 128_KiB)) small.push_back(block);
  for (Block* block : small) fill(*block, 1);
  for (Block* block : small) arena.free(*block);
  Block& large = arena.allocate(1_MiB);
  fill(large, 2);
  EXPECT_TRUE(has(large, 2));
  EXPECT_EQ(arena.committed(), 1_MiB);
  EXPECT_EQ(arena.peak_committed(), 1_MiB);
}

TEST(Arena, ReservesAddressesApartFromBlocksThatMayGrow) {
  Arena arena{4_MiB};
  const Block& block = arena.allocate(4_MiB);
  Block& reserved = *arena.reserve(16_KiB);
  const std::byte* address = reserved.address;
  EXPECT_NE(address, block.span().end());
  arena.free(reserved);
  EXPECT_EQ(arena.reserve(16_KiB)->address, address);
}

TEST(Arena, AdoptsPagesWithTheirContents) {
  Arena arena{64_KiB};
  Block& target = arena.allocate(32_KiB);
  fill(target, 1);
  arena.evict(target);
  Block& from = arena.allocate(32_KiB);
  fill(from, 2);
  arena.adopt(target, from);
  EXPECT_TRUE(has(target, 2));
  EXPECT_EQ(arena.in_use(), 32_KiB);
  EXPECT_EQ(arena.committed(), 64_KiB);  // the pages that the target had are free
  fill(target, 3);
  fill(arena.allocate(32_KiB), 4);
  EXPECT_TRUE(has(target, 3));
  EXPECT_EQ(arena.counters().commits, 16u);
}

TEST(Arena, FindsLiveBlocksByAnyAddressInThem) {
  Arena arena{16_MiB};
  Block& small = arena.allocate(12_KiB);
  Block& large = arena.allocate(3_MiB);
  EXPECT_EQ(arena.find(small.address), &small);
  EXPECT_EQ(arena.find(small.span().end() - 1), &small);
  EXPECT_EQ(arena.find(small.span().end()), nullptr);
  EXPECT_EQ(arena.find(large.span().end() - 1), &large);
  EXPECT_EQ(arena.find(large.span().end()), nullptr);
  arena.evict(small);
  EXPECT_EQ(arena.find(small.address), &small);
  arena.free(small);
  EXPECT_EQ(arena.find(small.address), nullptr);
  EXPECT_EQ(arena.find(&arena), nullptr);
  EXPECT_EQ(arena.find(nullptr), nullptr);
}

TEST(Arena, GivesANewBlockNoOwner) {
  Arena arena{64_KiB};
  Block& block = arena.allocate(4_KiB);
  block.owner = &arena;
  arena.free(block);
  EXPECT_EQ(arena.allocate(4_KiB).owner, nullptr);
}

TEST(Arena, RefusesMoreThanTheCapAndChangesNothing) {
  Arena arena{64_KiB};
  Block& block = arena.allocate(32_KiB);
  Block& evicted = arena.allocate(32_KiB);
  fill(evicted, 3);
  arena.evict(evicted);
  EXPECT_THROW(arena.allocate(36_KiB), NoPages);
  EXPECT_TRUE(has(evicted, 3));
  Block& taken = arena.allocate(32_KiB);
  EXPECT_THROW(arena.restore(evicted), std::bad_alloc);
  EXPECT_EQ(arena.in_use(), 64_KiB);
  arena.free(taken);
  arena.free(block);
  arena.restore(evicted);
}

TEST(Arena, SaysWhatIsInUseWhenItRefuses) {
  Arena arena{64_KiB};
  arena.allocate(60_KiB);
  try {
    arena.allocate(8_KiB);
    FAIL();
  } catch (const NoPages& error) {
    EXPECT_STREQ(error.what(),
                 "more pages in use than the cap allows: 8192 bytes are needed, 61440 of 65536 are "
                 "in use");
  }
}

TEST(Arena, GivesFreePagesBackWhenTheCapSinks) {
  Arena arena{1_MiB};
  Block& kept = arena.allocate(64_KiB);
  Block& free = arena.allocate(512_KiB);
  Block& evicted = arena.allocate(64_KiB);
  for (Block* block : {&kept, &free, &evicted}) fill(*block, 1);
  arena.free(free);
  arena.evict(evicted);
  arena.set_cap(128_KiB);
  EXPECT_EQ(arena.committed(), 128_KiB);
  EXPECT_TRUE(arena.restore(evicted));
  EXPECT_TRUE(has(kept, 1));
  EXPECT_TRUE(has(evicted, 1));
}

TEST(Arena, CommitsNothingWhileMoreIsInUseThanTheCap) {
  Arena arena{1_MiB};
  Block& a = arena.allocate(512_KiB);
  Block& b = arena.allocate(512_KiB);
  fill(a, 1);
  arena.set_cap(256_KiB);
  EXPECT_THROW(arena.allocate(4_KiB), NoPages);
  arena.free(b);
  EXPECT_EQ(arena.committed(), 512_KiB);
  EXPECT_TRUE(has(a, 1));
  arena.evict(a);
  EXPECT_EQ(arena.committed(), 256_KiB);
  EXPECT_TRUE(faults_on_read(a.address));
  arena.set_cap(1_MiB);
  EXPECT_FALSE(arena.restore(a));
  fill(a, 2);
}

TEST(Arena, HoldsNoMorePagesThanItSays) {
  Arena arena{4_MiB, {.address_space = 1_GiB}};
  std::vector<Block*> blocks = allocate(arena, 40, 36_KiB);
  blocks.push_back(&arena.allocate(2100_KiB));
  for (Block* block : blocks) fill(*block, 1);
  EXPECT_EQ(pages_present(arena.addresses()) * kPage,
            static_cast<std::size_t>(arena.committed().n));
  for (Block* block : blocks) arena.evict(*block);
  Block& next = arena.allocate(4_MiB);
  fill(next, 2);
  EXPECT_EQ(pages_present(arena.addresses()), 1024u);
  arena.free(next);
  arena.give_back_free();
  EXPECT_EQ(pages_present(arena.addresses()), 0u);
  EXPECT_EQ(arena.committed(), 0_B);
}

// Huge pages may come, but not where a block ends.
TEST(Arena, HoldsNoMorePagesThanItSaysOfBlocksThatAreTouchedInPart) {
  Arena arena{64_MiB, {.address_space = 1_GiB}};
  arena.evict(arena.allocate(4_KiB));  // from now on pages may be huge
  for (const Bytes size : {3_MiB, 100_KiB, 2050_KiB, 7_MiB, 12_KiB}) {
    Block& block = arena.allocate(size);
    *block.address = std::byte{1};
    block.address[block.span().bytes() - 1] = std::byte{1};
    EXPECT_LE(pages_present(arena.addresses()) * kPage,
              static_cast<std::size_t>(arena.committed().n));
  }
}

TEST(Arena, UsesAddressesAgain) {
  Arena arena{4_MiB, {.address_space = 64_MiB}};
  for (int i = 0; i < 200; ++i) {
    Block& block = arena.allocate({(2 << 20) + (i % 50) * 4096});
    *block.address = std::byte{1};
    arena.free(block);
  }
  EXPECT_LE(arena.peak_committed(), 4_MiB);
}

TEST(Arena, SaysWhenItsAddressesAreUsedUp) {
  Arena arena{1_GiB, {.address_space = 64_MiB}};
  EXPECT_THROW(arena.allocate(128_MiB), NoPages);
  fill(arena.allocate(32_MiB), 1);
}

TEST(ArenaDeathTest, NoticesWhatIsDoneTwice) {
  Arena arena{64_KiB};
  Block& block = arena.allocate(4_KiB);
  arena.evict(block);
  EXPECT_DEATH(arena.evict(block), "check failed");
  arena.free(block);
  EXPECT_DEATH(arena.free(block), "check failed");
}

}  // namespace
}  // namespace weir::pages
