#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "libtorch/training.h"
#include "weir/errors.h"

namespace weir::libtorch::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Bytes share(double part, Bytes whole) {
  return {static_cast<std::int64_t>(part * static_cast<double>(whole.n))};
}

struct Way {
  const char* name;
  bool recompute;
  const char* tier;
};
std::ostream& operator<<(std::ostream& out, const Way& way) { return out << way.name; }
constexpr Way kWays[] = {{"evict", true, "none"}, {"offload", false, ""}, {"both", true, ""}};

class Session_ : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, Session_, testing::ValuesIn(kWays),
                         [](const auto& way) { return way.param.name; });

TEST_P(Session_, TrainsToTheSameBitsAtEveryBudget) {
  const Way way = GetParam();
  const auto stock = train();
  ASSERT_EQ(stock, train()) << "stock itself is not deterministic";
  const Bytes peak = peak_of([] { train(); });
  for (const double part : {1.0, 0.8, 0.6}) {
    const Bytes budget = share(part, peak);
    const Session session{
        {.budget = budget, .smallest = 1_B, .recompute = way.recompute, .tier = way.tier}};
    EXPECT_EQ(train(4, 1, [] { step(); }), stock) << way.name << " " << part;
    EXPECT_LE(stats().peak, budget);
    EXPECT_EQ(stats().steps, 4U);
    if (part == 1.0) continue;
    EXPECT_EQ(stats().recomputes > 0, way.recompute);
    EXPECT_TRUE(way.recompute || stats().fetched > 0_B);
    EXPECT_TRUE(way.tier != std::string{"none"} || stats().offloaded == 0_B);
  }
}

TEST(Session, PagesNeverExceedTheBudget) {
  const Bytes budget = share(0.6, peak_of([] { train(); }));
  const Session session{{.budget = budget, .smallest = 1_B}};
  std::atomic<bool> over{false};
  std::atomic<std::int64_t> most{0};
  std::thread watcher{[&] {
    while (!over) most = std::max(most.load(), stats().committed.n);
  }};
  train(6, 1, [] { step(); });
  over = true;
  watcher.join();
  EXPECT_GT(most, 0);
  EXPECT_LE(most, budget.n);
  EXPECT_LE(stats().peak, budget);
}

TEST(Session, AShareOfThePeakIsLearnedInTheFirstStep) {
  const auto stock = train(6);
  const Session session{{.fraction = 0.7, .smallest = 1_B}};
  EXPECT_EQ(train(6, 1, [] { step(); }), stock);
  EXPECT_LE(stats().budget, share(0.71, stats().logical_peak));
  EXPECT_GT(stats().evictions, 0U);
}

TEST(Session, WhatIsAwayComesBackAfterItsEnd) {
  torch::Tensor x, y;
  std::string before;
  {
    const Session session{{.budget = 64_MiB, .smallest = 1_B}};
    x = torch::arange(1 << 18, torch::kFloat);
    y = x.sin().mul(2);
    before = bits(y);
    EXPECT_GE(reclaim(), Bytes{y.nbytes() > 0 ? static_cast<std::int64_t>(y.nbytes()) : 0});
  }
  EXPECT_EQ(bits(y), before);
  EXPECT_EQ(y.sum().item<float>(), x.sin().mul(2).sum().item<float>());
}

TEST(Session, CanFollowAnother) {
  const auto stock = train();
  const Bytes budget = share(0.7, peak_of([] { train(); }));
  for (int round = 0; round < 3; ++round) {
    const Session session{{.budget = budget, .smallest = 1_B}};
    EXPECT_EQ(train(4, 1, [] { step(); }), stock) << round;
  }
}

std::string refusal(const SessionOptions& options) {
  try {
    const Session session{options};
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST(Session, RefusesWhatCannotWork) {
  EXPECT_THAT(refusal({}), HasSubstr("a budget is needed"));
  EXPECT_THAT(refusal({.budget = 1_GiB, .policy = "best"}), HasSubstr("unknown policy 'best'"));
  EXPECT_THAT(refusal({.budget = 1_GiB, .recompute = false, .tier = "none"}),
              HasSubstr("allow one"));
  EXPECT_THAT(refusal({.budget = 1_GiB, .tier = "/nonexistent/folder"}), HasSubstr("nonexistent"));
  const Session session{{.budget = 1_GiB}};
  EXPECT_THAT(refusal({.budget = 1_GiB}), HasSubstr("only one"));
}

TEST(Session, SaysWhatIsMissingAndGoesOn) {
  const Session session{{.budget = 8_MiB, .smallest = 1_B}};
  const torch::Tensor x = torch::ones({256, 1024});
  try {
    torch::ones({64, 1024, 1024});
    FAIL() << "256 MiB in 8 MiB";
  } catch (const c10::OutOfMemoryError& error) {
    EXPECT_THAT(error.what(), StartsWith("weir::OutOfBudget: "));
    EXPECT_THAT(error.what(), HasSubstr("268435456 bytes"));
    EXPECT_THAT(error.what(), HasSubstr("smallest budget"));
    EXPECT_THAT(error.what(), testing::Not(HasSubstr("for the step")));  // no trace is known
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ((x + 1).sum().item<float>(), 2 * 256 * 1024);
  EXPECT_LE(stats().peak, 8_MiB);
}

TEST(Session, OutOfBudgetInTheMiddleOfAStepLeavesTheNetWhole) {
  torch::manual_seed(3);
  Net net;
  const std::string before = bits(net.parameters()[0]);
  {
    const Session session{{.budget = 3_MiB, .smallest = 1_B}};
    EXPECT_THROW(net.forward(torch::randn({64, 3, 64, 64})), c10::OutOfMemoryError);
    EXPECT_EQ(bits(net.parameters()[0]), before);
  }
  EXPECT_EQ(bits(net.parameters()[0]), before);
}

}  // namespace
}  // namespace weir::libtorch::test
