// The miss curve against a cache that is simulated line by line.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "cost/curve.h"
#include "cost/naive_cache.h"
#include "cost/nets.h"
#include "weir/types.h"

namespace weir::cost::test {
namespace {

using namespace weir::literals;

MissCurve curve_of(const Step& step) {
  const Blocks blocks{step};
  return {step, reuse_of(step, blocks)};
}

// Lines are touched one after the other, not all at once: near a distance of D bytes a line of an
// item may be found or not, depending on who comes first in a sweep. So the twin's curve runs
// between those of the model at a few lines less and a few more.
TEST(MissCurve, IsThatOfACacheOfLines) {
  constexpr std::int64_t kLine = 64;
  constexpr std::uint32_t kMostLines = 400;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Step step = random_step(seed, kLine, kMostLines);
    const MissCurve curve = curve_of(step);
    const double slack = kLine * static_cast<double>(step.items.size());
    const double edge = kLine * static_cast<double>(step.accesses.size());
    for (const std::int64_t lines : {0, 30, 100, 250, 600, 1200, 2000, 4000}) {
      const Moved moved = naive_cache(step, lines * kLine, kLine);
      const auto capacity = static_cast<double>(lines * kLine);
      const Traffic less = curve.at(std::max(0.0, capacity - slack));
      const Traffic more = curve.at(capacity + slack);
      EXPECT_LE(static_cast<double>(moved.read), less.read + edge) << seed << ' ' << lines;
      EXPECT_GE(static_cast<double>(moved.read), more.read - edge) << seed << ' ' << lines;
      EXPECT_LE(static_cast<double>(moved.write), less.write + edge) << seed << ' ' << lines;
      EXPECT_GE(static_cast<double>(moved.write), more.write - edge) << seed << ' ' << lines;
    }
  }
}

struct Error {
  double total = 0, read = 0, write = 0;  // the worst, as a share
};

Error worst_error(const Step& step, std::int64_t line) {
  const MissCurve curve = curve_of(step);
  Error worst;
  for (int i = 0; i < 18; ++i) {  // 1 MiB to 4 GiB, evenly by factor
    const double exact = 1048576 * std::exp2(12.0 * i / 17);
    const std::int64_t capacity = static_cast<std::int64_t>(exact) / line * line;
    const Moved moved = naive_cache(step, capacity, line);
    const Traffic traffic = curve.at(static_cast<double>(capacity));
    const auto read = static_cast<double>(moved.read), write = static_cast<double>(moved.write);
    const auto grow = [](double& most, double got, double want) {
      most = std::max(most, std::abs(got - want) / std::max(want, 1.0));
    };
    grow(worst.total, traffic.total(), read + write);
    grow(worst.read, traffic.read, read);
    grow(worst.write, traffic.write, write);
  }
  return worst;
}

TEST(MissCurve, IsWithinHalfAPercentOfExactLruOnTrainingSteps) {
#ifdef WEIR_CHECK_FULL
  GTEST_SKIP() << "takes minutes without optimisation; the release build has it";
#endif
  for (const auto& [name, made, line] : {std::tuple{"resnet50", resnet50(32, 4), 131072},
                                         std::tuple{"transformer", transformer(32, 4), 65536},
                                         std::tuple{"lstm", lstm(20, 4), 4096}}) {
    const Error worst = worst_error(made.step, line);
    std::cout << name << ": worst error " << 100 * worst.total << " % of all bytes, "
              << 100 * worst.read << " % of reads, " << 100 * worst.write << " % of writes\n";
    EXPECT_LT(worst.total, 0.005) << name;
    EXPECT_LT(worst.read, 0.005) << name;
    EXPECT_LT(worst.write, 0.005) << name;
  }
}

}  // namespace
}  // namespace weir::cost::test
