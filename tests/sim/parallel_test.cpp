#include "sim/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace weir::sim {
namespace {

TEST(Parallel, DoesEachPieceOnce) {
  for (unsigned jobs : {0u, 1u, 2u, 7u, 200u}) {
    std::vector<std::atomic<int>> times(50);
    run_parallel(times.size(), jobs, [&](std::size_t at) { ++times[at]; });
    for (const std::atomic<int>& n : times) EXPECT_EQ(n, 1) << jobs << " jobs";
  }
}

TEST(Parallel, HasNothingToDoWithoutWork) {
  run_parallel(0, 4, [](std::size_t) { FAIL(); });
}

TEST(Parallel, ReportsProgressUpToTheEnd) {
  std::vector<std::size_t> seen;
  run_parallel(
      20, 3, [](std::size_t) {},
      [&](std::size_t done, std::size_t all) {
        EXPECT_EQ(all, 20u);
        seen.push_back(done);
      });
  ASSERT_EQ(seen.size(), 20u);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i + 1);
}

TEST(Parallel, ThrowsWhatTheWorkThrewAndStops) {
  std::atomic<int> calls = 0;
  const auto work = [&](std::size_t at) {
    ++calls;
    if (at == 3) throw std::runtime_error("three");
  };
  EXPECT_THROW(run_parallel(100, 2, work), std::runtime_error);
  calls = 0;
  EXPECT_THROW(run_parallel(100, 1, work), std::runtime_error);
  EXPECT_EQ(calls, 4);
}

}  // namespace
}  // namespace weir::sim
