// The classes of evicted storages in a long run.
#include "policy/evicted_classes.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "policy/scene.h"

namespace weir::policy {
namespace {

TEST(EvictedClasses, AreTheSameAfterTheyWereNumberedAnew) {
  Scene scene{"lru"};
  std::vector<StorageId> made;
  EvictedClasses compacted, grown;  // told the same, but only one of them by note()
  base::Rng rng{1};
  const auto tell = [&](StorageId storage, Change change) {
    compacted.note(scene.graph(), storage, change);
    if (change == Change::Declared) grown.declare(storage);
    if (change == Change::Evicted) grown.evict(scene.graph(), storage, [](auto, auto) {});
    if (change == Change::Restored) grown.restore(scene.graph(), storage);
  };
  for (int i = 0; i < 12; ++i) {
    std::vector<StorageId> from;
    if (i != 0) from = {made[rng.below(made.size())], made.back()};
    made.push_back(scene.make({.from = from, .cost = {i + 1}}));
    tell(made.back(), Change::Declared);
    tell(made.back(), Change::Restored);
  }
  for (int i = 0; i < 2000; ++i) {
    const StorageId storage = made[rng.below(made.size())];
    const bool evict = scene.graph()[storage].resident();
    evict ? scene.evict(storage) : scene.restore(storage);
    tell(storage, evict ? Change::Evicted : Change::Restored);
    for (StorageId each : made)
      ASSERT_EQ(compacted.cost(scene.graph(), each), grown.cost(scene.graph(), each)) << i;
  }
  EXPECT_TRUE(grown.crowded());
  EXPECT_FALSE(compacted.crowded());
}

}  // namespace
}  // namespace weir::policy
