#include "smallest_command.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "arguments.h"
#include "output.h"
#include "progress.h"
#include "sim/feasibility.h"
#include "sim/sweep.h"
#include "sweep_output.h"
#include "trace/info.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::vector<std::filesystem::path> traces;
  std::string policies = "h_dtr_eq", deallocation = "eager";
  std::string limit = "2.0", step = "0.01", budgets = "0.1:1.0:0.1", jobs = "all";
  bool json = false;
};

class GeometricMean {
 public:
  void add(double value) {
    sum_of_logs_ += std::log(value);
    ++count_;
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::string text() const {
    return count_ == 0 ? "-" : fmt::format("{:.4f}", get());
  }
  [[nodiscard]] Json json() const { return count_ == 0 ? Json() : Json(get()); }

 private:
  [[nodiscard]] double get() const { return std::exp(sum_of_logs_ / static_cast<double>(count_)); }

  double sum_of_logs_ = 0;
  std::size_t count_ = 0;
};

double ratio(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

// One trace and policy; either order may never finish.
struct Row {
  std::size_t trace;
  const PolicyEntry* policy;
  Bytes peak, floor;
  std::optional<sim::ReplayResult> depth_first, lean;
};

struct Answer {
  std::vector<Trace> traces;
  std::vector<std::string> labels;
  sim::SweepOptions options;
  double step = 0;
  std::vector<Row> rows;
  // Over the rows where both orders finish somewhere, and over the cells where both finish.
  GeometricMean depth_first_by_floor, lean_by_floor, lean_by_depth_first, slowdowns;
};

void find_smallest(Answer& answer, const sim::Progress& progress) {
  const auto found = sim::smallest_budgets(answer.traces, answer.options, answer.step, progress);
  const std::size_t policies = answer.options.policies.size();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].of.restore != RestoreOrder::DepthFirst) continue;
    const sim::Smallest &depth_first = found[i], &lean = found[i + policies];
    const Trace& trace = answer.traces[lean.of.trace];
    const Row row{lean.of.trace,        lean.of.policy,  trace::liveness_peak(trace),
                  sim::floor_of(trace), depth_first.run, lean.run};
    answer.rows.push_back(row);
    if (!row.depth_first || !row.lean || row.floor.n == 0) continue;
    answer.depth_first_by_floor.add(ratio(row.depth_first->budget.n, row.floor.n));
    answer.lean_by_floor.add(ratio(row.lean->budget.n, row.floor.n));
    answer.lean_by_depth_first.add(ratio(row.lean->budget.n, row.depth_first->budget.n));
  }
}

void compare_slowdowns(Answer& answer, const sim::Progress& progress) {
  const std::vector<sim::Cell> cells = sim::sweep(answer.traces, answer.options, progress);
  const std::size_t apart = answer.options.policies.size() * answer.options.budgets.size();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].of.restore != RestoreOrder::DepthFirst) continue;
    const sim::ReplayResult &depth_first = cells[i].result, &lean = cells[i + apart].result;
    if (depth_first.status == sim::Status::Ok && lean.status == sim::Status::Ok)
      answer.slowdowns.add(lean.slowdown() / depth_first.slowdown());
  }
}

Answer answer_to(const Arguments& arguments) {
  Answer answer;
  answer.options.budgets = budgets_in(arguments.budgets);
  answer.options.policies = policies_in(arguments.policies);
  answer.options.deallocations = {deallocation(arguments.deallocation)};
  answer.options.restores = {RestoreOrder::DepthFirst, RestoreOrder::Lean};
  answer.options.limit = limit_in(arguments.limit);
  answer.options.jobs = jobs_in(arguments.jobs);
  answer.step = step_in(arguments.step);
  answer.traces = read_all(arguments.traces);
  answer.labels = labels_of(answer.traces);
  ProgressBar searching{"smallest budgets"}, comparing{"slowdowns"};
  find_smallest(answer, [&](auto done, auto all) { searching.show(done, all); });
  searching.wipe();
  compare_slowdowns(answer, [&](auto done, auto all) { comparing.show(done, all); });
  return answer;
}

Json json_of(const std::optional<sim::ReplayResult>& run, const Row& row) {
  if (!run) return {};
  return {{"budget_bytes", run->budget.n},
          {"of_peak", ratio(run->budget.n, row.peak.n)},
          {"of_floor", row.floor.n == 0 ? Json() : Json(ratio(run->budget.n, row.floor.n))},
          {"slowdown", run->slowdown()}};
}

Json json_of(const Answer& answer) {
  Json rows = Json::array();
  for (const Row& row : answer.rows)
    rows.push_back({{"trace", answer.traces[row.trace].source},
                    {"policy", row.policy->name},
                    {"peak_bytes", row.peak.n},
                    {"floor_bytes", row.floor.n},
                    {"depth_first", json_of(row.depth_first, row)},
                    {"lean", json_of(row.lean, row)}});
  return {{"limit", answer.options.limit ? Json(*answer.options.limit) : Json()},
          {"step", answer.step},
          {"deallocation", name(answer.options.deallocations.front())},
          {"rows", std::move(rows)},
          {"geometric_means",
           {{"rows", answer.lean_by_depth_first.count()},
            {"depth_first_of_floor", answer.depth_first_by_floor.json()},
            {"lean_of_floor", answer.lean_by_floor.json()},
            {"lean_of_depth_first", answer.lean_by_depth_first.json()}}},
          {"slowdown_lean_of_depth_first",
           {{"cells", answer.slowdowns.count()}, {"geometric_mean", answer.slowdowns.json()}}}};
}

void print_table(const Answer& answer) {
  const auto share = [](const std::optional<sim::ReplayResult>& run, Bytes whole) {
    return run && whole.n != 0 ? fmt::format("{:.4f}", ratio(run->budget.n, whole.n)) : "-";
  };
  std::size_t left = 17, next = 6;
  for (const std::string& label : answer.labels) left = std::max(left, label.size());
  for (const Row& row : answer.rows) next = std::max(next, row.policy->name.size());
  fmt::print("{:<{}} {:<{}} {:>8} {:>12} {:>8} {:>8} {:>8}\n", "smallest, of peak", left, "policy",
             next, "floor", "depth_first", "/floor", "lean", "/floor");
  for (const Row& row : answer.rows)
    fmt::print("{:<{}} {:<{}} {:>8.4f} {:>12} {:>8} {:>8} {:>8}\n", answer.labels[row.trace], left,
               row.policy->name, next, ratio(row.floor.n, row.peak.n),
               share(row.depth_first, row.peak), share(row.depth_first, row.floor),
               share(row.lean, row.peak), share(row.lean, row.floor));
  fmt::print(
      "geometric means of {} rows: depth_first/floor {}, lean/floor {}, lean/depth_first {}\n",
      answer.lean_by_depth_first.count(), answer.depth_first_by_floor.text(),
      answer.lean_by_floor.text(), answer.lean_by_depth_first.text());
  fmt::print("slowdown lean/depth_first where both finish ({} cells): geometric mean {}\n",
             answer.slowdowns.count(), answer.slowdowns.text());
}

void run(const Arguments& arguments) {
  const Answer answer = answer_to(arguments);
  if (arguments.json) return print_json(json_of(answer));
  print_table(answer);
}

}  // namespace

void add_smallest_command(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "smallest", "The smallest budget that finishes, by restore order, and the floor");
  const auto option = [&](const char* option_name, auto& value, const char* help) {
    return command->add_option(option_name, value, help)->capture_default_str();
  };
  command->add_option("TRACE", arguments->traces, "Weir traces, DTR logs or Checkmate graphs")
      ->required();
  option("--policies", arguments->policies, "Names between commas, or all; see weir replay --help");
  option("--deallocation", arguments->deallocation, "eager, ignore or banish");
  option("--limit", arguments->limit, "A run beyond this slowdown does not finish, or none");
  option("--step", arguments->step, "Budgets tried: the floor, then multiples of this share");
  option("--budgets", arguments->budgets, "Where the slowdowns of the two orders are compared");
  option("--jobs", arguments->jobs, "Runs at the same time, or all: one per processor");
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  command->footer(
      "The floor: no budget below it can do, whatever the policy (constants, kept results and\n"
      "the largest op). Budgets are tried from there upwards until one finishes.\n"
      "Example: weir smallest a.log b.log --policies h_dtr_eq,lru --limit 20");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace weir::app
