// The random policy draws as CPython does, so that DTR's published random runs can be repeated.
#include <gtest/gtest.h>

#include "policy/scene.h"

namespace weir::policy {
namespace {

constexpr std::uint32_t kBounds[] = {1, 2, 3, 5, 10, 16, 17, 100, 1000, 1, 7, 33, 64, 65, 999};

struct Drawn {
  std::uint64_t seed;
  std::uint32_t ranks[std::size(kBounds)];
};

// python3: random.seed(seed); [random.randrange(n) for n in kBounds]
constexpr Drawn kPython[] = {
    {0u, {0, 1, 0, 2, 8, 15, 12, 38, 991, 0, 2, 13, 17, 36, 143}},
    {1u, {0, 0, 1, 0, 7, 14, 15, 83, 388, 0, 0, 31, 3, 49, 443}},
    {9u, {0, 1, 1, 1, 2, 0, 10, 64, 474, 0, 2, 2, 48, 21, 720}},
    {123456789u, {0, 1, 1, 3, 6, 11, 12, 56, 558, 0, 5, 1, 34, 23, 26}},
    {1099511627781u, {0, 0, 2, 0, 2, 2, 4, 30, 951, 0, 1, 24, 15, 29, 478}},
};

TEST(Random, DrawsTheNumbersOfCPython) {
  for (const Drawn& drawn : kPython) {
    const std::unique_ptr<Policy> policy = find_policy("random").make({.seed = drawn.seed});
    const Graph graph;
    for (std::size_t i = 0; i < std::size(kBounds); ++i) {
      std::vector<StorageId> slots(kBounds[i]);
      for (std::uint32_t s = 0; s < kBounds[i]; ++s) slots[s] = StorageId{s};
      const View view{.graph = graph, .now = {}, .slots = slots, .candidates = slots.size()};
      const std::optional<Choice> choice = policy->choose(view, {1});
      ASSERT_TRUE(choice);
      EXPECT_EQ(index(choice->victim), drawn.ranks[i]) << "seed " << drawn.seed << ", draw " << i;
    }
  }
}

TEST(Random, CountsCandidatesOverGaps) {
  Scene scene{"random", {.seed = 3}};
  std::vector<StorageId> all(6);
  for (StorageId& storage : all) storage = scene.make({});
  for (std::size_t gone : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) scene.evict(all[gone]);
  std::vector<bool> chosen(all.size(), false);
  for (int i = 0; i < 100; ++i) chosen[index(scene.choose())] = true;
  EXPECT_EQ(chosen, (std::vector<bool>{false, true, false, false, true, true}));
}

TEST(Random, RepeatsItselfForTheSameSeedOnly) {
  Scene a{"random", {.seed = 1}}, b{"random", {.seed = 1}}, c{"random", {.seed = 2}};
  for (int i = 0; i < 100; ++i)
    for (Scene* scene : {&a, &b, &c}) scene->make({});
  bool differs = false;
  for (int i = 0; i < 50; ++i) {
    const StorageId chosen = a.choose();
    EXPECT_EQ(b.choose(), chosen);
    differs |= c.choose() != chosen;
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace weir::policy
