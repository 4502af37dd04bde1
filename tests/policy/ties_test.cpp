// DTR's rules for equal scores, for zero and for infinity: pool order, the last wins, zero ends the
// search. They must hold to repeat its results exactly.
#include <gtest/gtest.h>

#include <string>

#include "base/rng.h"
#include "policy/ratio.h"
#include "policy/scene.h"

namespace weir::policy {
namespace {

class Scan : public testing::TestWithParam<std::string> {};

TEST_P(Scan, GivesUpTheLastOfEqualCandidates) {
  Scene scene{GetParam()};
  StorageId last{};
  for (int i = 0; i < 5; ++i) last = scene.make({.size = 10_B, .cost = 10_ns, .last_use = 50_ns});
  EXPECT_EQ(scene.choose(), last);
}

TEST_P(Scan, TakesTheOrderInWhichTheyBecameCandidates) {
  Scene scene{GetParam()};
  const StorageId first = scene.make({.size = 10_B, .cost = 10_ns, .last_use = 50_ns});
  scene.make({.size = 10_B, .cost = 10_ns, .last_use = 50_ns});
  scene.evict(first);
  scene.restore(first);
  EXPECT_EQ(scene.choose(), first);
}

TEST_P(Scan, LooksAtEveryCandidateButAtNoGap) {
  Scene scene{GetParam()};
  const StorageId gone = scene.make({.size = 10_B, .cost = 10_ns, .last_use = 50_ns});
  for (int i = 0; i < 4; ++i) scene.make({.size = 10_B, .cost = 10_ns, .last_use = 50_ns});
  scene.evict(gone);
  EXPECT_EQ(scene.looks(), 4u);
}

TEST_P(Scan, GivesUpNothingWhenThereIsNothing) {
  Scene scene{GetParam()};
  EXPECT_EQ(scene.choose(), kNoStorage);
  scene.evict(scene.make({.last_use = 50_ns}));
  EXPECT_EQ(scene.choose(), kNoStorage);
}

INSTANTIATE_TEST_SUITE_P(Policies, Scan,
                         testing::Values("lru", "size", "h_dtr_local", "h_dtr", "h_dtr_eq",
                                         "h_estar", "msps"),
                         [](const testing::TestParamInfo<std::string>& name) {
                           return name.param;
                         });

TEST(Zero, EndsTheSearch) {
  Scene scene{"h_dtr_local"};
  scene.make({.cost = 5_ns});
  const StorageId free = scene.make({.cost = 0_ns});
  scene.make({.cost = 0_ns});
  EXPECT_EQ(scene.choose(), free);
  EXPECT_EQ(scene.looks(), 2u);
}

TEST(Zero, EndsTheSearchOfLruAtTheBeginningOfTime) {
  Scene scene{"lru"};
  const StorageId first = scene.make({.last_use = 0_ns});
  scene.make({.last_use = 0_ns});
  EXPECT_EQ(scene.choose(), first);
}

TEST(Infinity, IsTheScoreOfWhatIsInUseNow) {
  Scene scene{"h_dtr_local"};
  const StorageId stale = scene.make({.cost = 1'000_ns, .last_use = 99_ns});
  scene.make({.cost = 1_ns, .last_use = 100_ns});
  EXPECT_EQ(scene.choose(100_ns), stale);
}

TEST(Infinity, IsTheScoreOfWhatHasNoBytes) {
  for (const char* name : {"size", "h_dtr_local", "h_dtr", "h_dtr_eq", "h_estar", "msps"}) {
    Scene scene{name};
    const StorageId some = scene.make({.size = 1_B, .cost = 1'000_ns});
    scene.make({.size = 0_B, .cost = 1_ns});
    EXPECT_EQ(scene.choose(), some) << name;
  }
}

TEST(Infinity, IsStillAChoiceWhenThereIsNoOther) {
  Scene scene{"h_dtr"};
  scene.make({.size = 0_B});
  const StorageId last = scene.make({.size = 0_B});
  EXPECT_EQ(scene.choose(), last);
}

TEST(Infinity, TakesTheCostOfNothingToo) {
  Scene scene{"h_dtr_local"};  // no bytes and no cost: not zero, but infinite
  scene.make({.size = 0_B, .cost = 0_ns});
  const StorageId some = scene.make({.size = 1_B, .cost = 5_ns});
  EXPECT_EQ(scene.choose(), some);
}

TEST(Ratio, IsADivisionWhereDoublesAreExact) {
  base::Rng rng{1};
  for (int i = 0; i < 1000; ++i) {
    const auto over = static_cast<std::int64_t>(rng.below(std::uint64_t{1} << 53));
    const auto under = static_cast<std::int64_t>(1 + rng.below(std::uint64_t{1} << 52));
    EXPECT_EQ(ratio(over, under), static_cast<double>(over) / static_cast<double>(under));
  }
}

TEST(Ratio, IsTheSameForEqualFractionsOfAnySize) {
  base::Rng rng{2};
  for (int i = 0; i < 1000; ++i) {
    const auto over = static_cast<std::int64_t>(1 + rng.below(std::uint64_t{1} << 30));
    const auto under = static_cast<std::int64_t>(1 + rng.below(std::uint64_t{1} << 30));
    for (std::int64_t factor : {std::int64_t{2}, std::int64_t{3}, std::int64_t{1} << 30})
      EXPECT_EQ(ratio(over * factor, Wide{under} * factor), ratio(over, under))
          << over << ' ' << under;
  }
}

}  // namespace
}  // namespace weir::policy
