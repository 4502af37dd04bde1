#include "sweep_output.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "arguments.h"
#include "output.h"
#include "sim/feasibility.h"
#include "trace/info.h"
#include "trace/message.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;
using sim::Cell;
using sim::Status;
using sim::Trials;

std::string title_of(const Swept& swept, const sim::Case& of) {
  const std::string limit =
      swept.options.limit ? fmt::format(" T=thrash(>{}x)", *swept.options.limit) : "";
  return fmt::format("{}  restore {}, deallocation {}; slowdown, O=out of budget{}",
                     swept.labels[of.trace], name(of.restore), name(of.deallocation), limit);
}

// "h_dtr lean", and the deallocation where the sweep has several.
std::string name_of(const Swept& swept, const sim::Case& of) {
  std::string text = fmt::format("{} {}", of.policy->name, name(of.restore));
  if (swept.options.deallocations.size() > 1) text.append(" ").append(name(of.deallocation));
  return text;
}

std::string joined(std::span<const base::BudgetSpec> budgets) {
  std::string text;
  for (const base::BudgetSpec& budget : budgets)
    text += (text.empty() ? "" : " ") + base::format_budget(budget);
  return text;
}

std::string csv_text(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

Json json_of_case(const Swept& swept, const sim::Case& of) {
  return {{"trace", swept.traces[of.trace].source},
          {"policy", of.policy->name},
          {"restore", name(of.restore)},
          {"deallocation", name(of.deallocation)}};
}

Json json_of_traces(const Swept& swept) {
  Json traces = Json::array();
  for (std::size_t i = 0; i < swept.traces.size(); ++i) {
    const Trace& trace = swept.traces[i];
    traces.push_back({{"trace", trace.source},
                      {"label", swept.labels[i]},
                      {"base_ns", trace::base_cost(trace).n},
                      {"peak_bytes", trace::liveness_peak(trace).n},
                      {"floor_bytes", sim::floor_of(trace).n}});
  }
  return traces;
}

Json json_of_holes(const Swept& swept) {
  Json all = Json::array();
  for (const sim::Holes& holes : sim::holes(swept.cells)) {
    Json entry = json_of_case(swept, holes.of);
    entry["fail"] = Json::array();
    for (const base::BudgetSpec& budget : holes.budgets)
      entry["fail"].push_back(base::format_budget(budget));
    entry["works"] = base::format_budget(holes.works);
    all.push_back(std::move(entry));
  }
  return all;
}

}  // namespace

std::vector<std::string> labels_of(std::span<const Trace> traces) {
  std::vector<std::string> labels;
  for (const Trace& trace : traces) labels.push_back(label_of(trace));
  std::vector<std::string> sorted = labels;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) == sorted.end()) return labels;
  std::ranges::transform(traces, labels.begin(),
                         [](const Trace& trace) { return trace::printable(trace.source); });
  return labels;
}

void print_tables(const Swept& swept) {
  const sim::SweepOptions& options = swept.options;
  std::size_t left = 12, width = 7;
  for (const PolicyEntry* policy : options.policies) left = std::max(left, policy->name.size());
  for (const base::BudgetSpec& budget : options.budgets)
    width = std::max(width, base::format_budget(budget).size());
  std::size_t row = 0;
  const std::vector<Trials> all = sim::trials_of(swept.cells);
  for (auto trials = all.begin(); trials != all.end(); ++row) {
    const sim::Case& of = trials->cells.front().of;
    if (row % options.policies.size() == 0) {
      fmt::print("{}{}\n{:<{}}", row == 0 ? "" : "\n", title_of(swept, of), "policy", left);
      for (const base::BudgetSpec& budget : options.budgets)
        fmt::print(" {:>{}}", base::format_budget(budget), width);
      fmt::print("\n");
    }
    fmt::print("{:<{}}", of.policy->name, left);
    for (std::size_t column = 0; column < options.budgets.size(); ++column)
      fmt::print(" {:>{}}", (trials++)->shown(), width);
    fmt::print("\n");
  }
}

void print_holes(const Swept& swept) {
  for (const sim::Holes& holes : sim::holes(swept.cells))
    fmt::print("holes: {} {}: {} fail although {} works\n", swept.labels[holes.of.trace],
               name_of(swept, holes.of), joined(holes.budgets), base::format_budget(holes.works));
}

Json json_of(const Swept& swept) {
  Json cells = Json::array();
  for (const Cell& cell : swept.cells) {
    Json entry = json_of_case(swept, cell.of);
    entry["seed"] = cell.seed;
    entry["budget"] = base::format_budget(cell.budget);
    entry.update(json_of(cell.result, swept.traces[cell.of.trace]));
    cells.push_back(std::move(entry));
  }
  return {{"limit", swept.options.limit ? Json(*swept.options.limit) : Json()},
          {"traces", json_of_traces(swept)},
          {"cells", std::move(cells)},
          {"holes", json_of_holes(swept)}};
}

std::string csv_of(const Swept& swept) {
  std::string csv =
      "trace,policy,restore,deallocation,seed,budget,budget_bytes,status,slowdown,clock_ns,"
      "base_ns,recompute_ns,peak_bytes,evictions,releases,recomputes,scored\n";
  for (const auto& [of, budget, seed, result] : swept.cells) {
    const bool ok = result.status == Status::Ok;
    fmt::format_to(std::back_inserter(csv), "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                   csv_text(swept.traces[of.trace].source), of.policy->name, name(of.restore),
                   name(of.deallocation), seed, base::format_budget(budget), result.budget.n,
                   sim::name(result.status), ok ? fmt::format("{}", result.slowdown()) : "",
                   result.clock.n, result.base.n, result.recompute.n, result.peak.n,
                   result.counters.evictions, result.counters.releases, result.counters.recomputes,
                   result.counters.scored);
  }
  return csv;
}

}  // namespace weir::app
