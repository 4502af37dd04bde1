#include "replay_command.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "arguments.h"
#include "base/units.h"
#include "output.h"
#include "sim/feasibility.h"
#include "sim/replay.h"
#include "trace/info.h"
#include "trace/message.h"
#include "trace/reader.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::filesystem::path trace, plans;
  std::string budget, policy = "h_dtr_eq", restore = "lean", deallocation = "eager";
  std::string limit = "2.0", seed = "0";
  bool json = false;
};

struct Run {
  Trace trace;
  const PolicyEntry& policy;
  base::BudgetSpec budget;
  sim::ReplayOptions options;
  Bytes peak, floor;  // of the trace
  sim::ReplayResult result;
  std::size_t plans_before = 0;
  Plans plans = {};
};

// None if no file is named. Throws BadInput.
Plans plans_for(const Arguments& arguments, const PolicyEntry& policy) {
  if (arguments.plans.empty()) return {};
  if (!policy.plans)
    throw BadInput(fmt::format("--policy {} makes no plans; use --policy planned or drop --plans",
                               policy.name));
  return Plans::load(arguments.plans);
}

Run run(const Arguments& arguments) {
  const base::BudgetSpec budget = base::parse_budget(arguments.budget);
  sim::ReplayOptions options{.budget = {},
                             .deallocation = deallocation(arguments.deallocation),
                             .restore = restore_order(arguments.restore),
                             .seed = seed_in(arguments.seed),
                             .limit = limit_in(arguments.limit)};
  const PolicyEntry& policy = find_policy(arguments.policy);
  Plans plans = plans_for(arguments, policy);
  const std::size_t plans_before = plans.size();
  Trace trace = trace::read_trace(arguments.trace);
  const Bytes peak = trace::liveness_peak(trace), floor = sim::floor_of(trace);
  options.budget = budget.resolve(peak);
  options.plans = &plans;
  const sim::ReplayResult result = sim::replay(trace, policy, options);
  options.plans = nullptr;
  return {std::move(trace), policy,       budget,          options, peak, floor,
          result,           plans_before, std::move(plans)};
}

Json json_of_run(const Run& run) {
  Json json = {{"trace", run.trace.source},
               {"policy", run.policy.name},
               {"restore", name(run.options.restore)},
               {"deallocation", name(run.options.deallocation)},
               {"limit", run.options.limit ? Json(*run.options.limit) : Json()},
               {"seed", run.options.seed},
               {"budget", base::format_budget(run.budget)},
               {"trace_peak_bytes", run.peak.n},
               {"floor_bytes", run.floor.n}};
  json.update(json_of(run.result, run.trace));
  return json;
}

std::string verdict(const Run& run) {
  const sim::ReplayResult& result = run.result;
  switch (result.status) {
    case sim::Status::Ok:
      return fmt::format("finished, {:.4f} times the time without a budget", result.slowdown());
    case sim::Status::OutOfBudget:
      return fmt::format("out of budget {}: {} more beside {} that must stay; {} would do there",
                         where_stopped(result, run.trace), base::format_bytes(result.need),
                         base::format_bytes(result.held),
                         base::format_bytes(result.need + result.held));
    case sim::Status::Thrash:
      return fmt::format("thrash {}: over {} times the time without a budget",
                         where_stopped(result, run.trace), run.options.limit.value_or(0));
  }
  return "";
}

void print_table(const Arguments& arguments, const Run& run) {
  const sim::ReplayResult& result = run.result;
  const auto row = [](const char* key, const std::string& value) {
    fmt::print("{:<16} {}\n", key, value);
  };
  const auto sized = [&](const char* key, Bytes bytes) {
    row(key,
        fmt::format("{} ({} B, {:.4f}x)", base::format_bytes(bytes), bytes.n,
                    static_cast<double>(bytes.n) / std::max(1.0, static_cast<double>(run.peak.n))));
  };
  row("trace", trace::printable(run.trace.source));
  row("policy", fmt::format("{}, restore {}, deallocation {}", run.policy.name,
                            name(run.options.restore), name(run.options.deallocation)));
  row("result", verdict(run));
  sized("budget", result.budget);
  sized("used at most", result.peak);
  sized("peak of trace", run.peak);
  sized("floor", run.floor);
  row("time", base::format_nanos(result.clock));
  row("without budget", base::format_nanos(result.base));
  row("recomputing", fmt::format("{} in {} ops", base::format_nanos(result.recompute),
                                 result.counters.recomputes));
  row("evictions",
      fmt::format("{} ({} candidates scored), {} released by the program",
                  result.counters.evictions, result.counters.scored, result.counters.releases));
  if (arguments.plans.empty()) return;
  row("plans", fmt::format("{} loaded, {} saved", run.plans_before, run.plans.size()));
}

void report(const Arguments& arguments, int& exit_code) {
  const Run done = run(arguments);
  if (arguments.json)
    print_json(json_of_run(done));
  else
    print_table(arguments, done);
  if (!arguments.plans.empty()) done.plans.save(arguments.plans);
  if (!arguments.json && done.result.status != sim::Status::Ok) exit_code = 1;
}

std::string policy_help() {
  std::string help = "Policies:\n";
  std::size_t width = 0;
  for (const PolicyEntry& entry : policies()) width = std::max(width, entry.name.size());
  for (const PolicyEntry& entry : policies())
    help += fmt::format("  {:<{}}  {}\n", entry.name, width, entry.about);
  return help;
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("replay", "Run a trace once inside a budget: what it costs");
  const auto option = [&](const char* option_name, auto& value, const char* help) {
    return command->add_option(option_name, value, help);
  };
  option("TRACE", arguments->trace, "Weir trace, DTR log or Checkmate graph")->required();
  option("--budget", arguments->budget, "2GiB, 1500MB, 4096, or 0.5x of the trace's peak")
      ->required();
  option("--policy", arguments->policy, "Who chooses the victims; see below")
      ->capture_default_str();
  option("--restore", arguments->restore, "lean, or depth_first as DTR does")
      ->capture_default_str();
  option("--deallocation", arguments->deallocation,
         "When the program lets go of a tensor: eager, ignore or banish")
      ->capture_default_str();
  option("--limit", arguments->limit, "Stop beyond this slowdown, or none")->capture_default_str();
  option("--plans", arguments->plans,
         "File of planned's plans: those of runs before are used, and all are saved");
  option("--seed", arguments->seed, "For policies that draw")->capture_default_str();
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  command->footer(policy_help() +
                  "Example: weir replay traces/demo.jsonl.zst --budget 0.5x --policy h_dtr_eq");
  command->callback([arguments, &exit_code] { report(*arguments, exit_code); });
}

}  // namespace weir::app
