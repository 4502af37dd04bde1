// What Weir itself gives, in its own restore order: exact integers that change only on purpose.
// `golden_test --update-golden` writes the file anew.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include <fmt/format.h>

#include "golden/table.h"
#include "sim/sweep.h"
#include "trace/generate.h"
#include "trace/reader.h"

namespace weir::golden {
namespace {

constexpr const char* kFile = "weir_lean.csv";
constexpr const char* kColumns =
    "trace,policy,budget,status,budget_bytes,clock_ns,recompute_ns,peak_bytes,evictions,releases,"
    "recomputes,scored";

struct Named {
  const char* name;
  Trace trace;
  const char* budgets = "0.3:1.0:0.1";
};

std::vector<Named> traces() {
  std::vector<Named> all;
  all.push_back({"demo", trace::read_trace(std::filesystem::path{WEIR_SOURCE_DIR} /
                                           "traces/demo.jsonl.zst")});
  all.push_back({"chain_100", trace::linear_chain(100)});
  all.push_back({"tree_6", trace::binary_tree(6)});
  all.push_back({"layers_12x6", trace::layered_dag(12, 6, 3)});
  all.push_back({"training", trace::training_step(9, {.steps = 3, .ops = 40}), "0.75:1.1:0.05"});
  all.push_back({"log", trace::random_log_trace(2, {.ops = 80})});
  return all;
}

// "trace,policy,budget" -> the rest of the line.
using Golden = std::map<std::string, std::string>;

std::string numbers_of(const sim::ReplayResult& r) {
  return fmt::format("{},{},{},{},{},{},{},{},{}", sim::name(r.status), r.budget.n, r.clock.n,
                     r.recompute.n, r.peak.n, r.counters.evictions, r.counters.releases,
                     r.counters.recomputes, r.counters.scored);
}

std::vector<std::pair<std::string, std::string>> results() {
  sim::SweepOptions options{.budgets = {}, .policies = {}, .jobs = 2};
  for (const PolicyEntry& entry : policies()) options.policies.push_back(&entry);
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& [name, trace, budgets] : traces()) {
    options.budgets = base::parse_budget_list(budgets);
    for (const sim::Cell& cell : sim::sweep({&trace, 1}, options))
      lines.emplace_back(
          fmt::format("{},{},{}", name, cell.of.policy->name, base::format_budget(cell.budget)),
          numbers_of(cell.result));
  }
  return lines;
}

Golden read_golden() {
  Golden golden;
  const Table table = read_table(kFile);
  for (const Row& row : table.rows) {
    const auto join = [](auto begin, auto end) {
      return fmt::format("{}", fmt::join(begin, end, ","));
    };
    golden[join(row.begin(), row.begin() + 3)] = join(row.begin() + 3, row.end());
  }
  return golden;
}

TEST(Weir, GivesTheGoldenIntegers) {
  if (updating()) {
    std::ofstream file{path_of(kFile)};
    file << kColumns << '\n';
    for (const auto& [key, numbers] : results()) file << key << ',' << numbers << '\n';
    ASSERT_TRUE(file.good());
    return;
  }
  Golden golden = read_golden();
  for (const auto& [key, numbers] : results()) {
    EXPECT_EQ(numbers, golden[key]) << key << "; if meant: golden_test --update-golden";
    golden.erase(key);
  }
  EXPECT_TRUE(golden.empty()) << "not run any more: " << golden.begin()->first;
}

}  // namespace
}  // namespace weir::golden
