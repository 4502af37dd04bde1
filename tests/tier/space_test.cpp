#include "tier/space.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"

namespace weir::tier {
namespace {

using namespace literals;

// One flag per byte.
class NaiveSpace {
 public:
  explicit NaiveSpace(Bytes capacity) : taken_(static_cast<std::size_t>(capacity.n)) {}

  std::optional<Bytes> take(Bytes size) {
    std::optional<std::size_t> best;
    const auto need = static_cast<std::size_t>(size.n);
    for (std::size_t at = 0; at < taken_.size(); at += std::max<std::size_t>(1, free_at(at)))
      if (free_at(at) >= need && (!best || free_at(at) < free_at(*best))) best = at;
    if (!best) return std::nullopt;
    set(*best, need, true);
    return Bytes{static_cast<std::int64_t>(*best)};
  }
  void give(Bytes at, Bytes size) {
    set(static_cast<std::size_t>(at.n), static_cast<std::size_t>(size.n), false);
  }

 private:
  std::size_t free_at(std::size_t at) const {
    std::size_t end = at;
    while (end < taken_.size() && !taken_[end]) ++end;
    return end - at;
  }
  void set(std::size_t at, std::size_t size, bool value) {
    for (std::size_t i = at; i < at + size; ++i) taken_[i] = value;
  }

  std::vector<bool> taken_;
};

TEST(Space, TakesTheSmallestRangeThatIsLongEnough) {
  Space space{100_B};
  const Bytes a = *space.take(10_B), wall1 = *space.take(1_B), b = *space.take(5_B);
  (void)space.take(1_B);
  space.give(a, 10_B);
  space.give(b, 5_B);
  EXPECT_EQ(space.take(5_B), b);
  EXPECT_EQ(space.take(5_B), a);
  EXPECT_TRUE(space.taken(wall1, 1_B));
}

TEST(Space, JoinsWhatIsGivenBackWithBothNeighbours) {
  Space space{30_B};
  for (const Bytes at : {0_B, 10_B, 20_B}) EXPECT_EQ(space.take(10_B), at);
  space.give({0}, 10_B);
  space.give({20}, 10_B);
  EXPECT_EQ(space.take(11_B), std::nullopt);
  space.give({10}, 10_B);
  EXPECT_EQ(space.take(30_B), 0_B);
}

TEST(Space, HasNothingToGiveWhenItIsFull) {
  Space space{8_B};
  EXPECT_EQ(space.take(9_B), std::nullopt);
  EXPECT_EQ(space.take(8_B), 0_B);
  EXPECT_EQ(space.take(1_B), std::nullopt);
  EXPECT_EQ(space.used(), 8_B);
}

TEST(SpaceDeathTest, EndsTheProcessWhenARangeIsGivenTwice) {
  Space space{8_B};
  const Bytes at = *space.take(4_B);
  space.give(at, 4_B);
  EXPECT_DEATH(space.give(at, 4_B), "taken");
}

TEST(Space, AgreesWithTheNaiveSpace) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    base::Rng rng{seed};
    const Bytes capacity{static_cast<std::int64_t>(20 + rng.below(100))};
    Space space{capacity};
    NaiveSpace naive{capacity};
    std::vector<std::pair<Bytes, Bytes>> held;
    for (int event = 0; event < 100; ++event) {
      if (!held.empty() && rng.chance(1, 2)) {
        std::swap(held[rng.below(held.size())], held.back());
        const auto [at, size] = held.back();
        held.pop_back();
        space.give(at, size);
        naive.give(at, size);
      } else {
        const Bytes size{static_cast<std::int64_t>(1 + rng.below(20))};
        const std::optional<Bytes> at = space.take(size);
        ASSERT_EQ(at, naive.take(size));
        if (at) held.emplace_back(*at, size);
      }
      space.check();
    }
  }
}

}  // namespace
}  // namespace weir::tier
