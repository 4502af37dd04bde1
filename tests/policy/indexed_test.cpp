// The indexed policies look at few candidates; what they choose must be nearly the best.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"
#include "policy/scene.h"
#include "policy/staleness_index.h"

namespace weir::policy {
namespace {

constexpr double kNearly = StalenessIndex::kStep * StalenessIndex::kStep;

// Cost per byte and staleness, of candidates without neighbours.
double score(const Scene& scene, StorageId id, Nanos now) {
  const Storage& s = scene.graph()[id];
  return static_cast<double>(s.cost.n) /
         (static_cast<double>(s.size.n) * static_cast<double>((now - s.last_use).n));
}

double best_score(const Scene& scene, const std::vector<StorageId>& candidates, Nanos now) {
  double best = score(scene, candidates.front(), now);
  for (StorageId id : candidates) best = std::min(best, score(scene, id, now));
  return best;
}

class Indexed : public testing::TestWithParam<std::string> {};

TEST_P(Indexed, ChoosesNearlyTheBestOfManyCandidates) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    base::Rng rng{seed};
    Scene scene{GetParam()};
    std::vector<StorageId> candidates;
    Nanos now{1};
    for (int turn = 0; turn < 600; ++turn) {
      now.n += static_cast<std::int64_t>(1 + rng.below(50));
      const Nanos past{static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(now.n)))};
      candidates.push_back(scene.make({.size = {static_cast<std::int64_t>(1 + rng.below(1 << 20))},
                                       .cost = {static_cast<std::int64_t>(1 + rng.below(1 << 16))},
                                       .last_use = rng.chance(1, 4) ? past : now - 1_ns}));
      if (!rng.chance(2, 3)) continue;
      const StorageId chosen = scene.choose(now);
      ASSERT_TRUE(std::ranges::count(candidates, chosen)) << "seed " << seed;
      ASSERT_LE(score(scene, chosen, now), kNearly * best_score(scene, candidates, now))
          << "seed " << seed << ", turn " << turn;
      scene.evict(chosen);
      std::erase(candidates, chosen);
    }
  }
}

TEST_P(Indexed, LooksAtFewOfManyCandidates) {
  base::Rng rng{1};
  Scene scene{GetParam()};
  constexpr std::int64_t kMany = 10'000;
  for (std::int64_t i = 1; i <= kMany; ++i)
    scene.make({.size = {static_cast<std::int64_t>(1 + rng.below(1 << 20))},
                .cost = {static_cast<std::int64_t>(1 + rng.below(1 << 16))},
                .last_use = {i}});
  EXPECT_LT(scene.looks({kMany + 1}), 200u);
}

TEST_P(Indexed, ChoosesAmongThoseUsedJustNow) {
  Scene scene{GetParam()};
  const StorageId a = scene.make({.last_use = 100_ns}), b = scene.make({.last_use = 100_ns});
  const StorageId chosen = scene.choose(100_ns);
  EXPECT_TRUE(chosen == a || chosen == b);
}

// Found by the conformance test: nothing was chosen when all who stood for the first row had grown
// dearer and the rest had been used just now.
TEST(IndexedClasses, ChoosesSomethingWhenAllHaveGrownDearer) {
  Scene scene{"h_dtr_eq_indexed"};
  const StorageId a = scene.make({.cost = 10_ns, .last_use = 100_ns});
  const StorageId b = scene.make({.from = {a}, .cost = 1_ns, .last_use = 100_ns});
  scene.evict(a);
  EXPECT_EQ(scene.choose(100_ns), b);
}

INSTANTIATE_TEST_SUITE_P(Policies, Indexed,
                         testing::Values("h_dtr_local_indexed", "h_dtr_eq_indexed"),
                         [](const testing::TestParamInfo<std::string>& name) {
                           return name.param;
                         });

}  // namespace
}  // namespace weir::policy
