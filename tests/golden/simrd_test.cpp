// What simrd, the simulator of DTR's authors, gives for their logs, for Checkmate's graphs and for
// unit chains. Every number of the tables must come out again, digit for digit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "golden/table.h"
#include "sim/sweep.h"
#include "trace/generate.h"
#include "trace/info.h"
#include "trace/reader.h"

namespace weir::golden {
namespace {

using sim::Status;

// One policy on one trace of one table.
struct Series {
  std::string table, file, trace, policy;

  bool operator==(const Series&) const = default;
};

std::string name_of(const testing::TestParamInfo<Series>& info) {
  return plain(info.param.trace + "_" + info.param.policy);
}

void PrintTo(const Series& series, std::ostream* out) {
  *out << series.trace << ' ' << series.policy;
}

std::vector<Series> series_of(const std::string& name, const std::string& folder,
                              const std::string& extension) {
  const Table table = read_table(name);
  std::vector<Series> all;
  for (const Row& row : table.rows) {
    const std::string& trace = table.get(row, "trace");
    std::string file = folder;
    file.append(trace).append(extension);
    const Series series{name, std::move(file), trace, table.get(row, "policy")};
    if (std::ranges::find(all, series) == all.end()) all.push_back(series);
  }
  return all;
}

// With the whole state checked after every event, the larger traces take minutes.
bool too_long_here(const Series& series) {
#ifdef WEIR_CHECK_FULL
  return std::filesystem::file_size(*data_file(series.file)) > 1'000'000;
#else
  (void)series;
  return false;
#endif
}

class Simrd : public testing::TestWithParam<Series> {
 protected:
  void SetUp() override {
    if (!data_file(GetParam().file)) GTEST_SKIP() << kNoData;
    traces_.push_back(trace::read_trace(*data_file(GetParam().file)));
  }

  // As simrd counts: 10 seeds, each begun anew at every budget.
  [[nodiscard]] sim::SweepOptions options() const {
    return {.budgets = {},
            .policies = {&find_policy(GetParam().policy)},
            .restores = {RestoreOrder::DepthFirst},
            .trials = 10,
            .jobs = 2};
  }

  [[nodiscard]] std::vector<Row> rows(const Table& table) const {
    std::vector<Row> mine;
    for (const Row& row : table.rows)
      if (table.get(row, "trace") == GetParam().trace &&
          table.get(row, "policy") == GetParam().policy)
        mine.push_back(row);
    return mine;
  }

  [[nodiscard]] std::string where(const std::string& ratio) const {
    return GetParam().trace + " " + GetParam().policy + " at " + ratio;
  }

  std::vector<Trace> traces_;
};

class SimrdTable : public Simrd {
 protected:
  void SetUp() override {
    if (data_file(GetParam().file) && too_long_here(GetParam()))
      GTEST_SKIP() << "left to the builds without full checks";
    Simrd::SetUp();
  }
};

TEST_P(SimrdTable, EveryCellIsTheSame) {
  const Table table = read_table(GetParam().table);
  sim::SweepOptions options = this->options();
  for (const Row& row : rows(table))
    options.budgets.push_back(base::parse_budget(table.get(row, "ratio") + "x"));
  const std::vector<sim::Cell> cells = sim::sweep(traces_, options);
  const std::vector<sim::Trials> trials = sim::trials_of(cells);
  ASSERT_EQ(trials.size(), rows(table).size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Row row = rows(table)[i];
    EXPECT_EQ(trials[i].shown(), table.get(row, "result")) << where(table.get(row, "ratio"));
  }
}

INSTANTIATE_TEST_SUITE_P(DtrLogs, SimrdTable,
                         testing::ValuesIn(series_of("dtr_slowdowns.csv", "dtr-logs/", ".log")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(CheckmateGraphs, SimrdTable,
                         testing::ValuesIn(series_of("checkmate_graphs.csv", "checkmate-graphs/",
                                                     ".json")),
                         name_of);

class SimrdExact : public Simrd {};

TEST_P(SimrdExact, EveryNumberIsTheSame) {
  const Table table = read_table(GetParam().table);
  for (const Row& row : rows(table)) {
    const std::string& ratio = table.get(row, "ratio");
    const Bytes budget = base::parse_budget(ratio + "x").resolve(trace::liveness_peak(traces_[0]));
    const sim::ReplayResult got =
        sim::replay(traces_[0], find_policy(GetParam().policy),
                    {.budget = budget, .restore = RestoreOrder::DepthFirst});
    EXPECT_EQ(got.status, Status::Ok) << where(ratio);
    const auto same = [&](const char* column, auto number) {
      const std::string& expected = table.get(row, column);
      if (expected.empty()) return;  // not known
      EXPECT_EQ(std::to_string(number), expected) << where(ratio) << ", " << column;
    };
    same("budget", got.budget.n);
    same("clock", got.clock.n);
    same("recompute", got.recompute.n);
    same("peak", got.peak.n);
    same("scored", got.counters.scored);
    const std::string& slowdown = table.get(row, "slowdown");
    if (slowdown.empty()) continue;
    EXPECT_EQ(got.slowdown(), std::strtod(slowdown.c_str(), nullptr)) << where(ratio);
  }
}

INSTANTIATE_TEST_SUITE_P(DtrLogs, SimrdExact,
                         testing::ValuesIn(series_of("dtr_exact.csv", "dtr-logs/", ".log")),
                         name_of);

// ResNet-32 with h_dtr_eq: out of budget up to 0.08, not so at 0.085 and 0.09, again at 0.095 and
// 0.1, thrash up to 0.145, and good from 0.15 on.
TEST(SimrdHoles, AreTheSame) {
  const auto file = data_file("dtr-logs/resnet32-56.log");
  if (!file) GTEST_SKIP() << kNoData;
  const std::vector<Trace> traces{trace::read_trace(*file)};
  const sim::SweepOptions options{.budgets = base::parse_budget_list("0.06:0.2:0.005"),
                                  .policies = {&find_policy("h_dtr_eq")},
                                  .restores = {RestoreOrder::DepthFirst},
                                  .jobs = 2};
  std::string letters;
  const std::vector<sim::Cell> cells = sim::sweep(traces, options);
  for (const sim::Cell& cell : cells)
    letters += cell.result.status == Status::Ok ? '.' : sim::Trials{{&cell, 1}}.shown()[0];
  EXPECT_EQ(letters, "OOOOOTTOOTTTTTTTTT...........");
}

// Costs and sizes are 1, so recompute time is the number of extra ops. simrd gave up when these
// exceeded 50 times the base, which is a slowdown of 51 by our count.
TEST(SimrdChain, ExtraOpsAreTheSame) {
  const Table table = read_table("linear_chain.csv");
  ASSERT_FALSE(table.rows.empty());
  for (const Row& row : table.rows) {
    const auto number = [&](const char* column) { return std::stoul(table.get(row, column)); };
#ifdef WEIR_CHECK_FULL
    if (number("length") > 200) continue;
#endif
    const Trace trace = trace::linear_chain(static_cast<std::uint32_t>(number("length")));
    const std::string &policy = table.get(row, "policy"), &expected = table.get(row, "extra_ops");
    const sim::ReplayResult got =
        sim::replay(trace, find_policy(policy),
                    {.budget = {static_cast<std::int64_t>(number("budget"))},
                     .restore = RestoreOrder::DepthFirst,
                     .limit = 51});
    const std::string where =
        "chain of " + table.get(row, "length") + " " + policy + " at " + table.get(row, "budget");
    EXPECT_EQ(got.status == Status::Thrash ? ">50x" : std::to_string(got.recompute.n), expected)
        << where;
    EXPECT_NE(got.status, Status::OutOfBudget) << where;
  }
}

}  // namespace
}  // namespace weir::golden
