#include "policy/cover.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace weir::policy {
namespace {

struct Given {
  double score;
  Bytes size;
  bool stays = false;
};

// Takes them one by one, and then looks again and again for one that can stay.
std::size_t naive_first(std::vector<Given> given, Bytes lack) {
  std::vector<std::size_t> order(given.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return given[i].score; });
  std::vector<std::size_t> taken;
  const auto freed = [&] {
    Bytes sum;
    for (std::size_t i : taken) sum += given[i].stays ? Bytes{} : given[i].size;
    return sum;
  };
  for (std::size_t i : order)
    if (taken.empty() || freed() < lack) taken.push_back(i);
  if (freed() < lack) return taken.front();
  for (auto i = taken.rbegin(); i != taken.rend(); ++i) {
    given[*i].stays = true;
    if (freed() < lack || (i == taken.rbegin() && lack <= Bytes{})) given[*i].stays = false;
  }
  return *std::ranges::find_if(taken, [&](std::size_t i) { return !given[i].stays; });
}

TEST(Cover, SparesWhatALaterOneMakesNeedless) {
  Cover cover;
  cover.add(StorageId{1}, 1, {6});
  cover.add(StorageId{2}, 2, {400});
  EXPECT_EQ(cover.first({400}), StorageId{2});
}

TEST(Cover, TakesTheLowestWhereOneIsEnough) {
  Cover cover;
  cover.add(StorageId{1}, 2, {10});
  cover.add(StorageId{2}, 1, {10});
  EXPECT_EQ(cover.first({10}), StorageId{2});
  EXPECT_EQ(cover.first({10}), kNoStorage);
}

TEST(Cover, TakesTheLowestWhereAllAreTooFew) {
  Cover cover;
  cover.add(StorageId{1}, 2, {10});
  cover.add(StorageId{2}, 1, {1});
  EXPECT_EQ(cover.first({100}), StorageId{2});
}

TEST(Cover, AgreesWithTheNaiveCover) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    base::Rng rng{seed};
    std::vector<Given> given(1 + rng.below(12));
    Cover cover;
    for (std::size_t i = 0; i < given.size(); ++i) {
      given[i] = {static_cast<double>(rng.below(6)), {static_cast<std::int64_t>(rng.below(9))}};
      cover.add(StorageId{static_cast<std::uint32_t>(i)}, given[i].score, given[i].size);
    }
    const Bytes lack{static_cast<std::int64_t>(rng.below(40))};
    EXPECT_EQ(index(cover.first(lack)), naive_first(given, lack)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace weir::policy
