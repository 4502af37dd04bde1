#include "pilot/plan_cache.h"

#include <gtest/gtest.h>

namespace weir::pilot {
namespace {

TEST(PlanCache, FindsByStepAndBudget) {
  PlanCache cache;
  cache.add({1, {100}, nullptr});
  EXPECT_NE(cache.find(1, {100}), nullptr);
  EXPECT_EQ(cache.find(1, {200}), nullptr);
  EXPECT_EQ(cache.find(2, {100}), nullptr);
}

TEST(PlanCache, ReplacesThePlanOfTheSameStep) {
  PlanCache cache;
  cache.add({1, {100}, nullptr});
  cache.add({1, {100}, nullptr});
  EXPECT_EQ(cache.size(), 1u);
}

TEST(PlanCache, ForgetsTheOneUsedLongestAgo) {
  PlanCache cache;
  for (std::uint64_t step = 0; step < PlanCache::kMost; ++step) cache.add({step, {100}, nullptr});
  ASSERT_NE(cache.find(0, {100}), nullptr);
  cache.add({1000, {100}, nullptr});
  EXPECT_EQ(cache.size(), PlanCache::kMost);
  EXPECT_NE(cache.find(0, {100}), nullptr);
  EXPECT_EQ(cache.find(1, {100}), nullptr);
}

}  // namespace
}  // namespace weir::pilot
