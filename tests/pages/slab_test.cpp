#include "pages/slab.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "pages/arena.h"

namespace weir::pages {
namespace {

using namespace literals;

// Slabs over the blocks of an arena, as the runtime has them.
struct World {
  Arena arena{64_MiB};
  Slabs slabs{[this](std::size_t bytes) {
                return arena.allocate({static_cast<std::int64_t>(bytes)}, {kSlabUnit}).address;
              },
              [this](std::byte* memory, std::size_t) { arena.free(*arena.find(memory)); }};
};

TEST(Slabs, WasteAtMostAnEighthAboveHalfAKibibyte) {
  for (std::size_t size = 1; size <= kLargestSlabObject; ++size) {
    const std::size_t given = slab_object_bytes(slab_class(size));
    ASSERT_GE(given, size);
    ASSERT_EQ(given % 64, 0u);
    if (size > 512) {
      ASSERT_LE((given - size) * 8, size) << size;
    }
  }
}

TEST(Slabs, LoseLittleOfAChunk) {
  for (std::size_t i = 0; i < kSlabClasses; ++i) {
    const std::size_t chunk = slab_chunk_bytes(slab_object_bytes(i));
    EXPECT_LE(chunk % slab_object_bytes(i) * 10, chunk) << slab_object_bytes(i);
  }
}

TEST(Slabs, GiveAlignedObjectsThatDoNotOverlap) {
  World world;
  std::map<std::byte*, std::size_t> objects;
  base::Rng rng{1};
  for (int i = 0; i < 2000; ++i) {
    const std::size_t size = rng.below(i % 2 == 0 ? 600 : kLargestSlabObject + 1);
    auto* object = static_cast<std::byte*>(world.slabs.allocate(size));
    std::memset(object, i, size);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(object) % 64, 0u);
    ASSERT_TRUE(objects.emplace(object, size).second);
    ASSERT_GE(world.slabs.object_size(object), size);
  }
  std::byte* end = nullptr;
  for (const auto& [object, size] : objects) {
    ASSERT_GE(object, end);
    end = object + size;
  }
  for (const auto& [object, size] : objects) world.slabs.free(object);
}

TEST(Slabs, KnowWhatIsTheirs) {
  World world;
  auto* object = static_cast<std::byte*>(world.slabs.allocate(100));
  EXPECT_TRUE(world.slabs.contains(object));
  EXPECT_TRUE(world.slabs.contains(object + 99));
  EXPECT_FALSE(world.slabs.contains(&world));
  EXPECT_FALSE(world.slabs.contains(nullptr));
  EXPECT_FALSE(world.slabs.contains(std::bit_cast<void*>(UINTPTR_MAX)));
  world.slabs.free(object);
  world.slabs.give_back_spares();
  EXPECT_FALSE(world.slabs.contains(object));
}

TEST(Slabs, KeepAPointerForEachObject) {
  World world;
  for (std::size_t size : {64u, 1000u, 9000u, 22'000u, 30'000u}) {
    std::vector<std::byte*> objects;
    for (int i = 0; i < 100; ++i) {
      objects.push_back(static_cast<std::byte*>(world.slabs.allocate(size)));
      EXPECT_EQ(world.slabs.owner(objects.back()).load(), nullptr);
      world.slabs.owner(objects.back()) = &objects.back()[1];
    }
    for (std::byte* object : objects) {
      EXPECT_EQ(world.slabs.owner(object).load(), &object[1]);
      EXPECT_EQ(&world.slabs.owner(object + size - 1), &world.slabs.owner(object));
    }
    for (std::byte* object : objects) world.slabs.free(object);
    EXPECT_EQ(world.slabs.owner(world.slabs.allocate(size)).load(), nullptr);
  }
}

TEST(Slabs, GiveChunksBackButOne) {
  World world;
  std::vector<void*> objects(1000);
  for (void*& object : objects) object = world.slabs.allocate(1000);
  EXPECT_EQ(world.slabs.bytes_in_chunks(), 1024_KiB);  // 64 in a chunk
  EXPECT_EQ(world.arena.in_use(), 1024_KiB);
  for (void* object : objects) world.slabs.free(object);
  EXPECT_EQ(world.slabs.bytes_in_chunks(), 64_KiB);
  world.slabs.allocate(1000);
  world.slabs.give_back_spares();
  EXPECT_EQ(world.slabs.bytes_in_chunks(), 64_KiB);
}

TEST(Slabs, PassOnThatThereIsNoMore) {
  Slabs slabs{[](std::size_t) -> std::byte* { throw std::bad_alloc{}; },
              [](std::byte*, std::size_t) {}};
  EXPECT_THROW(slabs.allocate(10), std::bad_alloc);
  EXPECT_EQ(slabs.bytes_in_chunks(), 0_B);
}

// Making room for a chunk may free objects of the very class that needs it.
TEST(Slabs, MayBeUsedByTheCallbacks) {
  Arena arena{1_MiB};
  Slabs* own = nullptr;
  std::vector<void*> objects;
  Slabs slabs{[&](std::size_t bytes) {
                if (!objects.empty()) own->free(objects.back()), objects.pop_back();
                return arena.allocate({static_cast<std::int64_t>(bytes)}, {kSlabUnit}).address;
              },
              [&](std::byte* memory, std::size_t) { arena.free(*arena.find(memory)); }};
  own = &slabs;
  for (int i = 0; i < 3000; ++i) objects.push_back(slabs.allocate(64));
  EXPECT_EQ(std::set<void*>(objects.begin(), objects.end()).size(), objects.size());
  for (void* object : objects) slabs.free(object);
}

TEST(Slabs, ServeManyThreads) {
  World world;
  const auto work = [&](std::uint64_t seed) {
    base::Rng rng{seed};
    std::vector<std::pair<std::byte*, std::size_t>> objects;
    for (int i = 0; i < 5000; ++i) {
      if (objects.size() < 200 && rng.chance(3, 5)) {
        const std::size_t size = 1 + rng.below(2000);
        objects.emplace_back(static_cast<std::byte*>(world.slabs.allocate(size)), size);
        std::memset(objects.back().first, static_cast<int>(seed), size);
        world.slabs.owner(objects.back().first) = objects.back().first;
      } else if (!objects.empty()) {
        std::swap(objects[rng.below(objects.size())], objects.back());
        const auto [object, size] = objects.back();
        objects.pop_back();
        ASSERT_EQ(world.slabs.owner(object).load(), object);
        ASSERT_EQ(object[0], static_cast<std::byte>(seed));
        ASSERT_EQ(object[size - 1], static_cast<std::byte>(seed));
        world.slabs.free(object);
      }
    }
    for (const auto& [object, size] : objects) world.slabs.free(object);
  };
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (std::uint64_t i = 1; i <= 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  world.slabs.give_back_spares();
  EXPECT_EQ(world.slabs.bytes_in_chunks(), 0_B);
  EXPECT_EQ(world.arena.in_use(), 0_B);
}

TEST(SlabsDeathTest, NoticeAnObjectThatIsFreedTwice) {
  World world;
  world.slabs.allocate(64);
  auto* object = static_cast<std::byte*>(world.slabs.allocate(64));
  EXPECT_DEATH(world.slabs.free(object + 8), "check failed");
  world.slabs.free(object);
  EXPECT_DEATH(world.slabs.free(object), "check failed");
}

}  // namespace
}  // namespace weir::pages
