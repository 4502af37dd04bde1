// How pages move: neighbours as one, whatever the system's mremap can do, within its limits.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "pages/arena.h"
#include "pages/page_costs.h"
#include "pages/system.h"

namespace weir::pages {
namespace {

using namespace literals;

std::vector<Block*> allocate(Arena& arena, int count, Bytes size) {
  std::vector<Block*> blocks;
  for (int i = 0; i < count; ++i) {
    blocks.push_back(&arena.allocate(size));
    std::memset(blocks.back()->address, 1, blocks.back()->span().bytes());
  }
  return blocks;
}

TEST(Moves, NeighboursMoveAsOne) {
  Arena arena{1_MiB, {.worth_moving = 1}};
  for (Block* block : allocate(arena, 32, 32_KiB)) arena.evict(*block);
  Block& large = arena.allocate(1_MiB);
  EXPECT_EQ(arena.counters().moves, 1u);
  std::memset(large.address, 2, large.span().bytes());
}

TEST(Moves, BringsOnlyThePagesThatAGapLacks) {
  Arena arena{64_KiB, {.worth_moving = 1}};
  const std::vector<Block*> blocks = allocate(arena, 4, 16_KiB);
  arena.free(*blocks[3]);
  arena.free(*blocks[1]);
  std::byte* last = blocks[3]->address;
  const Counters before = arena.counters();
  Block& mended = arena.allocate(28_KiB);
  std::memset(mended.address, 2, mended.span().bytes());
  EXPECT_EQ(mended.address, last);
  EXPECT_EQ(arena.find(mended.address + 5 * kPage), &mended);
  EXPECT_EQ(arena.counters().commits, before.commits);
  EXPECT_EQ(arena.counters().moves, before.moves + 1);
  for (const Block* kept : {blocks[0], blocks[2]})
    for (std::size_t page = 0; page < 4; ++page)
      EXPECT_EQ(kept->address[page * kPage], std::byte{1});
  arena.check();
}

TEST(Moves, OneMoveServesSeveralSmallBlocks) {
  Arena arena{1_MiB, {.worth_moving = 1}};
  for (Block* block : allocate(arena, 32, 32_KiB)) arena.evict(*block);
  allocate(arena, 32, 32_KiB);
  EXPECT_LE(arena.counters().moves, 4u);
  EXPECT_EQ(arena.counters().commits, 256u);
}

TEST(Moves, WhatIsNotWorthMovingAppearsAnewAndItsReadersFault) {
  Arena arena{1_MiB, {.address_space = 1_GiB, .worth_moving = 1000}};
  const std::vector<Block*> blocks = allocate(arena, 32, 32_KiB);
  for (Block* block : blocks) arena.evict(*block);
  const std::vector<Block*> others = allocate(arena, 16, 32_KiB);
  EXPECT_EQ(arena.counters().moves, 0u);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_TRUE(faults_on_read(blocks[i]->address));
  for (Block* block : others) arena.free(*block);
  for (Block* block : blocks) {
    arena.restore(*block);
    std::memset(block->address, 2, block->span().bytes());
  }
  arena.check();
  EXPECT_EQ(pages_present(arena.addresses()), 256u);
}

// What readers of a block would have met when its pages moved.
std::byte* watched = nullptr;
bool was_closed = false;
int remap_and_watch(std::byte* from, std::byte* to, std::size_t bytes) {
  if (from == watched) was_closed = faults_on_read(from);
  return system_remap(from, to, bytes);
}

TEST(Moves, CloseAnEvictedBlockBeforeItsPagesGo) {
  Arena arena{32_KiB, {.worth_moving = 1, .remap = remap_and_watch}};
  Block& block = *allocate(arena, 1, 32_KiB)[0];
  watched = block.address;
  arena.evict(block);
  allocate(arena, 1, 32_KiB);
  EXPECT_EQ(arena.counters().moves, 1u);
  EXPECT_TRUE(was_closed);
}

TEST(Moves, ALargeDonorKeepsWhatIsNotNeeded) {
  Arena arena{1_MiB, {.worth_moving = 1}};
  Block& donor = *allocate(arena, 1, 1_MiB)[0];
  arena.evict(donor);
  allocate(arena, 1, 256_KiB);
  allocate(arena, 1, 768_KiB);
  EXPECT_EQ(arena.counters().moves, 2u);
  EXPECT_EQ(arena.counters().commits, 256u);
}

TEST(Moves, OneMoveOfALargeBlockServesSeveral) {
  Arena arena{8_MiB};
  arena.evict(*allocate(arena, 1, 8_MiB).front());
  allocate(arena, 1, 5_MiB);
  EXPECT_EQ(arena.counters().moves, 1u);
  allocate(arena, 3, 1_MiB);
  EXPECT_EQ(arena.counters().moves, 1u);
  EXPECT_EQ(arena.counters().commits, 2048u);
  arena.check();
}

TEST(Moves, PagesOfScatteredFreeBlocksMakeALargeOne) {
  Arena arena{1_MiB, {.worth_moving = 1}};
  const std::vector<Block*> blocks = allocate(arena, 16, 64_KiB);
  for (std::size_t i = 0; i < blocks.size(); i += 2) arena.free(*blocks[i]);
  Block& large = *allocate(arena, 1, 512_KiB)[0];
  EXPECT_EQ(arena.counters().moves, 8u);
  EXPECT_EQ(arena.counters().commits, 256u);
  arena.check();
  arena.free(large);
  allocate(arena, 1, 512_KiB);
  EXPECT_EQ(arena.counters().moves, 8u);
}

TEST(Moves, PiecesOfARunThatIsSeveralMappingsMoveOneByOneWhereTheyMust) {
  Arena arena{1_MiB, {.worth_moving = 1, .remap = remap_within_one_mapping}};
  std::vector<Block*> blocks = allocate(arena, 8, 128_KiB);
  for (Block* block : blocks) arena.evict(*block);
  arena.free(arena.allocate(1_MiB));
  // Restored in another order, the neighbours are mappings of their own.
  for (std::size_t i : {3u, 0u, 6u, 1u, 7u, 4u, 2u, 5u}) arena.restore(*blocks[i]);
  for (Block* block : blocks) arena.evict(*block);
  const std::uint64_t before = arena.counters().moves;
  Block& large = arena.allocate(960_KiB);
  EXPECT_GT(arena.counters().moves - before, 1u);
  std::memset(large.address, 2, large.span().bytes());
  EXPECT_EQ(arena.committed(), 1_MiB);
  for (Block* block : blocks) EXPECT_TRUE(faults_on_read(block->address));
}

TEST(Moves, AdoptionWorksWithoutThem) {
  Arena arena{256_KiB, {.remap = no_remap}};
  Block& target = arena.allocate(128_KiB);
  std::memset(target.address, 1, target.span().bytes());
  arena.evict(target);
  Block& from = arena.allocate(128_KiB);
  for (std::size_t i = 0; i < from.span().bytes(); ++i)
    from.address[i] = static_cast<std::byte>(i / 100);
  arena.adopt(target, from);
  for (std::size_t i = 0; i < target.span().bytes(); ++i)
    ASSERT_EQ(target.address[i], static_cast<std::byte>(i / 100));
  EXPECT_EQ(arena.counters().moves, 0u);
}

// Every other one of many neighbours is restored in turn, which makes mappings without end.
TEST(Moves, StopBeforeTheSystemRunsOutOfMappings) {
  Arena arena{4_MiB, {.address_space = 1_GiB, .most_mappings = 200, .worth_moving = 1}};
  std::vector<Block*> blocks = allocate(arena, 128, 32_KiB);
  for (int round = 0; round < 4; ++round) {
    for (Block* block : blocks) arena.evict(*block);
    Block& large = arena.allocate(4_MiB);
    std::memset(large.address, round, large.span().bytes());
    arena.free(large);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      Block& block = *blocks[(i * 37) % blocks.size()];
      arena.restore(block);
      std::memset(block.address, round, block.span().bytes());
    }
    EXPECT_LE(mappings_within(arena.addresses()), 200u);
  }
  EXPECT_GT(arena.counters().discards, 0u);
}

TEST(Moves, NoMappingIsForgotten) {
  Arena arena{4_MiB, {.address_space = 1_GiB}};
  std::vector<Block*> blocks = allocate(arena, 128, 32_KiB);
  for (std::size_t i = 0; i < blocks.size(); i += 2) arena.evict(*blocks[i]);
  allocate(arena, 16, 128_KiB);
  EXPECT_GE(arena.counters().mappings, mappings_within(arena.addresses()));
}

TEST(PageCosts, AreMeasured) {
  const PageCosts costs = measure_page_costs();
  EXPECT_GT(costs.touch.n, 0);
  EXPECT_GE(costs.huge_touch.n, 0);
  EXPECT_GT(costs.move.n, 0);
}

// The block is at every moment in place with its bytes, or its readers fault.
TEST(Moves, AReaderNeverSeesAHalfMovedBlock) {
  Arena arena{64_KiB};
  const auto fill = [](Block& block) {
    for (std::size_t i = 0; i < block.span().bytes(); i += 8)
      std::atomic_ref{*reinterpret_cast<std::uint64_t*>(block.address + i)}.store(~0ull);
  };
  Block& block = arena.allocate(32_KiB);
  fill(block);
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::thread reader([&] {
    auto* last = reinterpret_cast<std::uint64_t*>(block.span().end() - 8);
    while (!done) {
      volatile std::uint64_t seen = ~0ull;
      faults_on([&] {
        for (int i = 0; i < 1000 && seen == ~0ull; ++i) seen = std::atomic_ref{*last}.load();
      });
      if (seen != ~0ull) ++wrong;
    }
  });
  for (int i = 0; i < 500; ++i) {
    arena.evict(block);
    Block& again = arena.allocate(32_KiB);
    Block& other = arena.allocate(32_KiB);
    fill(again);
    arena.free(other);
    arena.adopt(block, again);
  }
  done = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace weir::pages
