// Each policy on small graphs whose scores can be worked out by hand.
#include <gtest/gtest.h>

#include "policy/scene.h"

namespace weir::policy {
namespace {

TEST(Lru, GivesUpWhatWasUsedLongestAgo) {
  Scene scene{"lru"};
  scene.make({.last_use = 30_ns});
  const StorageId oldest = scene.make({.last_use = 10_ns});
  scene.make({.last_use = 20_ns});
  EXPECT_EQ(scene.choose(), oldest);
}

TEST(Size, GivesUpTheLargest) {
  Scene scene{"size"};
  scene.make({.size = 10_B});
  const StorageId largest = scene.make({.size = 30_B});
  scene.make({.size = 20_B});
  EXPECT_EQ(scene.choose(), largest);
}

TEST(HDtrLocal, GivesUpTheLowestCostPerByteAndStaleness) {
  Scene scene{"h_dtr_local"};
  scene.make({.size = 10_B, .cost = 10_ns, .last_use = 90_ns});  // 10 / (10 * 10) = 0.1
  const StorageId lowest =
      scene.make({.size = 10_B, .cost = 20_ns, .last_use = 60_ns});  // 20 / (10 * 40) = 0.05
  scene.make({.size = 5_B, .cost = 20_ns, .last_use = 60_ns});       // 20 / (5 * 40) = 0.1
  EXPECT_EQ(scene.choose(), lowest);
}

TEST(HDtrLocal, KnowsNothingOfNeighbours) {
  Scene scene{"h_dtr_local"};
  const StorageId a = scene.make({.cost = 1000_ns}), b = scene.make({.from = {a}, .cost = 1_ns});
  const StorageId other = scene.make({.cost = 2_ns});
  scene.evict(a);
  EXPECT_NE(scene.choose(), other);
  EXPECT_EQ(scene.choose(), b);
}

TEST(HDtrLocal, CountsTheViewsOfAStorage) {
  Scene scene{"h_dtr_local"};
  const StorageId a = scene.make({.cost = 5_ns}), b = scene.make({.cost = 8_ns});
  EXPECT_EQ(scene.choose(), a);
  scene.grow(a, 4_ns);
  EXPECT_EQ(scene.choose(), b);
}

// a -> b -> c -> d, and e made from b: with b, c and e evicted, a and d are candidates.
struct Chain {
  explicit Chain(std::string_view policy, Nanos a_cost, Nanos d_cost) : scene{policy} {
    a = scene.make({.cost = a_cost});
    b = scene.make({.from = {a}, .cost = 10_ns});
    c = scene.make({.from = {b}, .cost = 20_ns});
    e = scene.make({.from = {b}, .cost = 400_ns});
    d = scene.make({.from = {c}, .cost = d_cost});
    scene.evict(b);
    scene.evict(c);
    scene.evict(e);
  }
  Scene scene;
  StorageId a, b, c, d, e;
};

TEST(HDtr, AddsEvictedAncestorsAndDescendantsButNotTheirOtherSides) {
  // a: own + 10 + 20 + 400 below it. d: own + 20 + 10 above it; e is below b, not above d.
  Chain nearly{"h_dtr", 1_ns, 400_ns};  // 431 against 430
  EXPECT_EQ(nearly.scene.choose(), nearly.d);
  Chain just{"h_dtr", 1_ns, 402_ns};  // 431 against 432
  EXPECT_EQ(just.scene.choose(), just.a);
}

TEST(HDtr, StopsAtWhatIsResident) {
  Scene scene{"h_dtr"};
  const StorageId a = scene.make({.cost = 500_ns}), b = scene.make({.from = {a}, .cost = 500_ns}),
                  c = scene.make({.from = {b}, .cost = 1_ns});
  scene.evict(a);
  EXPECT_EQ(scene.choose(), c);  // 1: a lies behind b, which is there
  EXPECT_EQ(scene.graph()[a].where(), Residency::Evicted);
}

TEST(HEstar, LeavesStalenessOut) {
  Scene scene{"h_estar"};
  scene.make({.size = 1_B, .cost = 10_ns, .last_use = 0_ns});
  const StorageId fresh = scene.make({.size = 2_B, .cost = 10_ns, .last_use = 99_ns});
  EXPECT_EQ(scene.choose(), fresh);
}

TEST(Msps, AddsEvictedAncestorsOnly) {
  Chain nearly{"msps", 29_ns, 1_ns};  // a: 29, nothing above it; d: 1 + 20 + 10
  EXPECT_EQ(nearly.scene.choose(), nearly.a);
  Chain just{"msps", 32_ns, 1_ns};
  EXPECT_EQ(just.scene.choose(), just.d);
}

TEST(HDtrEq, AddsTheWholeClassOnEitherSide) {
  Chain nearly{"h_dtr_eq", 2_ns, 1_ns};  // b, c and e are one class: 430 is added to both
  EXPECT_EQ(nearly.scene.choose(), nearly.d);
  Chain just{"h_dtr_eq", 1_ns, 2_ns};
  EXPECT_EQ(just.scene.choose(), just.a);
}

TEST(HDtrEq, CountsAClassOnceForSeveralNeighbours) {
  Scene scene{"h_dtr_eq"};
  const StorageId a = scene.make({.cost = 10_ns}), b = scene.make({.from = {a}, .cost = 10_ns});
  const StorageId both = scene.make({.from = {a, b}, .cost = 1_ns});  // 1 + 20
  const StorageId other = scene.make({.cost = 22_ns});
  scene.evict(a);
  scene.evict(b);
  EXPECT_EQ(scene.choose(), both);
  EXPECT_NE(scene.choose(), other);
}

TEST(HDtrEq, LeavesWhatWasConnectedConnectedWhenTheLinkComesBack) {
  Scene scene{"h_dtr_eq"};
  const StorageId a = scene.make({.cost = 100_ns}), link = scene.make({.from = {a}, .cost = 7_ns}),
                  c = scene.make({.from = {link}, .cost = 50_ns});
  const StorageId reader = scene.make({.from = {c}, .cost = 1_ns});
  const StorageId other = scene.make({.cost = 120_ns});
  for (StorageId gone : {a, link, c}) scene.evict(gone);
  scene.restore(link);
  EXPECT_EQ(scene.choose(), other);  // link: 7 + 150, reader: 1 + 150 although a is no neighbour
  EXPECT_NE(scene.choose(), reader);
}

TEST(HDtrEq, TakesOutMoreThanItPutInForAStorageThatGrewMeanwhile) {
  Scene scene{"h_dtr_eq"};
  const StorageId a = scene.make({.cost = 10_ns, .last_use = 90_ns});
  const StorageId b = scene.make({.from = {a}, .cost = 10_ns});
  const StorageId reader = scene.make({.from = {b}, .cost = 100_ns});
  const StorageId other = scene.make({.cost = 80_ns});
  scene.evict(a);
  scene.evict(b);
  scene.grow(a, 90_ns);
  scene.restore(a);                   // the class is worth 20 - 100 from now on
  EXPECT_EQ(scene.choose(), reader);  // 100 - 80, below its own cost
  EXPECT_NE(scene.choose(), other);
}

TEST(MegEngine, CountsTheEvictedNeighboursOfTheOpButNotTheStorageItself) {
  Scene scene{"megengine"};
  const StorageId a = scene.make({.cost = 50_ns}), b = scene.make({.from = {a}, .cost = 1_ns}),
                  dear = scene.make({.cost = 900_ns});
  scene.evict(a);
  EXPECT_EQ(scene.choose(), dear);
  EXPECT_NE(scene.choose(), b);
}

class Table final : public Predictor {
 public:
  explicit Table(std::vector<std::uint64_t> uses) : uses_{std::move(uses)} {}
  std::uint64_t next_use(StorageId storage) const override { return uses_[index(storage)]; }

 private:
  std::vector<std::uint64_t> uses_;
};

TEST(Belady, GivesUpWhatIsUsedLast) {
  const Table future{{5, 9, 7}};
  Scene scene{"belady", {.future = &future}};
  scene.make({});
  const StorageId last = scene.make({});
  scene.make({});
  EXPECT_EQ(scene.choose(), last);
}

TEST(Belady, GivesUpFirstWhatIsNeverUsedAgain) {
  const Table future{{5, Predictor::kNever, UINT64_MAX - 1}};
  Scene scene{"belady", {.future = &future}};
  scene.make({});
  const StorageId never = scene.make({});
  scene.make({});
  EXPECT_EQ(scene.choose(), never);
}

}  // namespace
}  // namespace weir::policy
