#include "base/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace weir::base {
namespace {

// The published outputs of SplitMix64 for seed 1234567.
TEST(Rng, GivesThePublishedNumbers) {
  Rng rng{1234567};
  for (const std::uint64_t expected :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
        16408922859458223821u}) {
    EXPECT_EQ(rng.next(), expected);
  }
}

TEST(Rng, RepeatsItselfForTheSameSeed) {
  Rng a{7};
  Rng b{7};
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(a.next(), b.next()) << "draw " << i;
}

TEST(Rng, DiffersBetweenNeighbouringSeeds) { EXPECT_NE(Rng{0}.next(), Rng{1}.next()); }

TEST(Rng, StaysBelowItsBound) {
  Rng rng{1};
  for (const std::uint64_t bound :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1000}, UINT64_MAX}) {
    for (int i = 0; i < 1000; ++i) ASSERT_LT(rng.below(bound), bound);
  }
}

TEST(Rng, DrawsEveryValueAboutEquallyOften) {
  Rng rng{2};
  std::array<int, 10> seen{};
  for (int i = 0; i < 100'000; ++i) ++seen[rng.below(seen.size())];
  for (const int count : seen) EXPECT_NEAR(count, 10'000, 500);  // five standard deviations
}

TEST(Rng, TakesAChanceAsOftenAsItIsGiven) {
  Rng rng{3};
  int taken = 0;
  for (int i = 0; i < 100'000; ++i) taken += rng.chance(1, 4) ? 1 : 0;
  EXPECT_NEAR(taken, 25'000, 700);
}

TEST(Rng, NeverTakesNoChanceAndAlwaysTakesACertainOne) {
  Rng rng{4};
  for (int i = 0; i < 1000; ++i) {
    ASSERT_FALSE(rng.chance(0, 5));
    ASSERT_TRUE(rng.chance(5, 5));
  }
}

}  // namespace
}  // namespace weir::base
