#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "twin/lock_step.h"

namespace weir::twin {
namespace {

#ifdef WEIR_CHECK_FULL
constexpr std::uint64_t kSeeds = 1500;
#else
constexpr std::uint64_t kSeeds = 10'000;
#endif

std::uint64_t seeds() {
  const char* chosen = std::getenv("WEIR_TEST_SEEDS");
  return chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : kSeeds;
}

// A check that fails ends the process: the seed must be known then too.
std::atomic<std::uint64_t> running_seed;
extern "C" void say_seed(int) {
  char text[64];
  const int length = std::snprintf(text, sizeof text, "twin: aborted at seed %llu\n",
                                   static_cast<unsigned long long>(running_seed.load()));
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) return;
}

class Twin : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override { std::signal(SIGABRT, say_seed); }
  void TearDown() override { std::signal(SIGABRT, SIG_DFL); }
};

TEST_P(Twin, AgreesWithTheManagerAfterEveryEvent) {
  Coverage coverage;
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    running_seed = seed;
    ASSERT_EQ(compare(seed, GetParam(), coverage), "");
  }
  std::cout << "runs that evicted " << coverage.evictions << ", recomputed " << coverage.recomputes
            << ", ran out of budget " << coverage.out_of_budget << ", were broken off "
            << coverage.broken_off << ", rescued readers " << coverage.rescues
            << ", gave up readers " << coverage.doomed << ", gave way " << coverage.gave_way
            << ", for the reserve " << coverage.for_reserve << ", took back " << coverage.taken_back
            << ", used up spent storages " << coverage.spent << ", banished " << coverage.banished
            << ", collected " << coverage.collected << ", replayed in place " << coverage.in_place
            << ", dropped a half restored sibling " << coverage.half_dropped << ", offloaded "
            << coverage.offloads << ", fetched " << coverage.fetches << ", reclaimed for free "
            << coverage.for_free << ", had a full tier " << coverage.homeless << ", buried at once "
            << coverage.died_at_once << ", retired " << coverage.retired << ", let recipes age "
            << coverage.aged << ", were written to " << coverage.writes << '\n';
  EXPECT_GT(coverage.evictions, 0u);
  EXPECT_GT(coverage.recomputes, 0u);
  EXPECT_GT(coverage.out_of_budget, 0u);
  EXPECT_GT(coverage.banished, 0u);
  EXPECT_GT(coverage.offloads, 0u);
  EXPECT_GT(coverage.fetches, 0u);
  EXPECT_GT(coverage.for_free, 0u);
  EXPECT_GT(coverage.homeless, 0u);
  if (GetParam().restore == RestoreOrder::Lean) {
    EXPECT_GT(coverage.spent, 0u);
    EXPECT_GT(coverage.gave_way, 0u);
    EXPECT_GT(coverage.for_reserve, 0u);
    EXPECT_GT(coverage.taken_back, 0u);
  }
  if (GetParam().views == ViewRule::Keep) {
    EXPECT_GT(coverage.rescues, 0u);
    EXPECT_GT(coverage.doomed, 0u);
    EXPECT_GT(coverage.collected, 0u);
    EXPECT_GT(coverage.in_place, 0u);
    EXPECT_GT(coverage.half_dropped, 0u);
    EXPECT_GT(coverage.died_at_once, 0u);
    EXPECT_GT(coverage.retired, 0u);
    EXPECT_GT(coverage.aged, 0u);
    EXPECT_GT(coverage.writes, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, Twin,
                         testing::Values(Kind{ViewRule::Keep, RestoreOrder::DepthFirst},
                                         Kind{ViewRule::Rerun, RestoreOrder::DepthFirst},
                                         Kind{ViewRule::Keep, RestoreOrder::Lean},
                                         Kind{ViewRule::Rerun, RestoreOrder::Lean}),
                         [](const testing::TestParamInfo<Kind>& kind) {
                           return std::string{kind.param.views == ViewRule::Keep ? "KeptViews"
                                                                                 : "RerunViews"} +
                                  (kind.param.restore == RestoreOrder::Lean ? "Lean"
                                                                            : "DepthFirst");
                         });

}  // namespace
}  // namespace weir::twin
