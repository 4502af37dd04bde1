// `foresight` on the logs of DTR's paper, beside the best of DTR's family in each cell.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "golden/table.h"
#include "sim/replay.h"
#include "trace/info.h"
#include "trace/reader.h"

namespace weir::golden {
namespace {

constexpr double kOut = 0;  // of budget, all of them

// Slowdowns at 0.2 to 0.9, lean order: the least of h_dtr, h_dtr_eq, h_dtr_local, msps, lru, size.
struct Log {
  const char* name;
  std::array<double, 8> best;
};
constexpr Log kLogs[] = {
    {"resnet32-56", {1.3034, 1.1782, 1.1404, 1.1068, 1.0631, 1.0371, 1.0244, 1.0127}},
    {"transformer-10", {1.1643, 1.1111, 1.0803, 1.0584, 1.0442, 1.0314, 1.0180, 1.0089}},
    {"treelstm-6", {1.2983, 1.2292, 1.1723, 1.1231, 1.0716, 1.0334, 1.0132, 1.0009}},
    {"tv_densenet121-84", {1.4425, 1.2738, 1.2157, 1.1645, 1.1141, 1.0867, 1.0535, 1.0258}},
    {"unet-6", {kOut, 1.5148, 1.2147, 1.1125, 1.0756, 1.0493, 1.0333, 1.0160}}};

double slowdown(const Trace& trace, int tenths) {
  const Bytes budget{trace::liveness_peak(trace).n * tenths / 10};
  const sim::ReplayResult result =
      sim::replay(trace, find_policy("foresight"), {.budget = budget, .limit = {}});
  EXPECT_EQ(result.status, sim::Status::Ok);
  return result.slowdown();
}

double overhead(double slowdown) { return std::max(slowdown - 1, 1e-4); }

// The logarithm of foresight's overhead over the best's, summed.
double compare(const Trace& trace, const Log& log, int& cells) {
  double sum = 0;
  for (int tenths = 2; tenths <= 9; ++tenths) {
    const double best = log.best[static_cast<std::size_t>(tenths - 2)];
    if (best == kOut) continue;
    const double ours = slowdown(trace, tenths);
    EXPECT_LE(ours, 1.005 * best) << log.name << ", " << tenths;
    sum += std::log(overhead(ours) / overhead(best));
    ++cells;
  }
  return sum;
}

TEST(ForesightOnDtrsLogs, IsNowhereSlowerAndOnAverageFaster) {
#ifdef WEIR_CHECK_FULL
  GTEST_SKIP() << "takes minutes where the whole state is checked after every event";
#endif
  double all = 0, without_tree = 0;
  int cells = 0, cells_without_tree = 0;
  for (const Log& log : kLogs) {
    const auto file = data_file(fmt::format("dtr-logs/{}.log", log.name));
    if (!file) GTEST_SKIP() << kNoData;
    int counted = 0;
    const double sum = compare(trace::read_trace(*file), log, counted);
    all += sum;
    cells += counted;
    if (std::string_view{log.name} == "treelstm-6") continue;
    without_tree += sum;
    cells_without_tree += counted;
  }
  EXPECT_EQ(cells, 39);
  EXPECT_LE(std::exp(all / cells), 0.71);
  EXPECT_LE(std::exp(without_tree / cells_without_tree), 0.87);
}

TEST(ForesightOnDtrsLogs, FinishesWhereDtrThrashes) {
  const struct {
    const char* name;
    int tenths;
    double most;
  } marks[] = {{"treelstm-6", 3, 1.24},
               {"treelstm-6", 2, 1.29},
               {"unet-6", 4, 1.16},
               {"unet-6", 3, 1.38},
               {"transformer-10", 2, 1.14}};
  for (const auto& [name, tenths, most] : marks) {
    const auto file = data_file(fmt::format("dtr-logs/{}.log", name));
    if (!file) GTEST_SKIP() << kNoData;
    EXPECT_LE(slowdown(trace::read_trace(*file), tenths), most) << name;
  }
}

}  // namespace
}  // namespace weir::golden
