#include "weir/ledger.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace weir {
namespace {

using namespace literals;

TEST(Ledger, CountsAChargeWhileItLives) {
  Ledger ledger{100_B};
  {
    const std::optional<Charge> charge = ledger.try_charge(60_B);
    ASSERT_TRUE(charge);
    EXPECT_EQ(charge->size(), 60_B);
    EXPECT_EQ(ledger.used(), 60_B);
  }
  EXPECT_EQ(ledger.used(), 0_B);
}

TEST(Ledger, FillsTheBudgetToTheLastByte) {
  Ledger ledger{100_B};
  const std::optional<Charge> charge = ledger.try_charge(100_B);
  EXPECT_TRUE(charge);
  EXPECT_EQ(ledger.used(), ledger.budget());
}

TEST(Ledger, RefusesWhatDoesNotFitAndKeepsItsCount) {
  Ledger ledger{100_B};
  const std::optional<Charge> first = ledger.try_charge(60_B);
  EXPECT_FALSE(ledger.try_charge(41_B));
  EXPECT_EQ(ledger.used(), 60_B);
}

TEST(Ledger, RefusesMoreThanTheBudgetWithoutOverflow) {
  Ledger ledger{100_B};
  const std::optional<Charge> first = ledger.try_charge(60_B);
  EXPECT_FALSE(ledger.try_charge(Bytes{INT64_MAX}));
}

TEST(Ledger, ChargesNothingForNoBytes) {
  Ledger ledger{0_B};
  EXPECT_TRUE(ledger.try_charge(0_B));
  EXPECT_EQ(ledger.used(), 0_B);
}

TEST(Ledger, RemembersItsPeak) {
  Ledger ledger{100_B};
  (void)ledger.try_charge(70_B);
  const std::optional<Charge> small = ledger.try_charge(20_B);
  EXPECT_EQ(ledger.peak(), 70_B);
}

TEST(Charge, GivesNothingBackWhenItWasMovedFrom) {
  Ledger ledger{100_B};
  Charge first = *ledger.try_charge(60_B);
  const Charge second = std::move(first);
  EXPECT_EQ(second.size(), 60_B);
  EXPECT_EQ(ledger.used(), 60_B);
}

TEST(Charge, GivesItsBytesBackWhenAnEmptyOneTakesItsPlace) {
  Ledger ledger{100_B};
  Charge charge = *ledger.try_charge(60_B);
  charge = Charge{};
  EXPECT_EQ(ledger.used(), 0_B);
}

TEST(Charge, MayBelongToAnotherLedger) {
  Ledger a{100_B}, b{100_B};
  Charge charge = *a.try_charge(60_B);
  charge = *b.try_charge(10_B);
  EXPECT_EQ(a.used(), 0_B);
  EXPECT_EQ(b.used(), 10_B);
}

TEST(Ledger, NeverExceedsItsBudgetWhenEightThreadsCharge) {
  Ledger ledger{100_B};
  std::atomic<int> taken = 0;
  const auto charge_often = [&] {
    for (int i = 0; i < 2000; ++i) {
      const std::optional<Charge> charge = ledger.try_charge(30_B);
      if (charge) ++taken;
      ASSERT_LE(ledger.used(), ledger.budget());
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) threads.emplace_back(charge_often);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ledger.used(), 0_B);
  EXPECT_LE(ledger.peak(), 90_B);
  EXPECT_GT(taken, 0);
}

}  // namespace
}  // namespace weir
