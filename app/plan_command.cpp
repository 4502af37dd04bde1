#include "plan_command.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "arguments.h"
#include "base/units.h"
#include "device_plan.h"
#include "output.h"
#include "plan/methods.h"
#include "plan/milp.h"
#include "plan/verify.h"
#include "plan_common.h"
#include "policy_guesses.h"
#include "schedule_file.h"
#include "trace/message.h"
#include "trace/reader.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;
using plan::Outcome;

constexpr std::size_t kMostForSmallest = 400;  // ops for which the least peak is searched

struct Result {
  plan::Problem problem;
  base::BudgetSpec spec;
  Bytes budget;
  plan::Floor floor;
  std::string method;
  plan::Answer answer;
  std::optional<plan::Smallest> smallest = {};  // asked for if there is no schedule
  std::uint32_t most_runs = 0;                  // of an op, if the method limits them

  // There may be a schedule that runs ops more often.
  [[nodiscard]] bool too_few_runs() const {
    return answer.outcome == Outcome::Infeasible && most_runs > 0 && budget >= floor.budget;
  }
};

void check_tier(const PlanArguments& arguments, const plan::MethodEntry& method) {
  if (method.needs_tier && arguments.tier.empty())
    throw BadInput(fmt::format("--method {} needs a tier; add --tier 2GiB,write=2GB/s,read=1GB/s",
                               method.name));
  if (!method.copies && !arguments.tier.empty())
    throw BadInput(
        fmt::format("--method {} copies nothing to a tier; use --method poet or fast, or drop "
                    "--tier",
                    method.name));
  if (arguments.repeats && (arguments.tier.empty() || method.needs_tier))
    throw BadInput("--repeats is for --method fast with --tier; drop it");
}

// What is there when a step begins.
std::vector<StorageId> constants_at_first(const plan::Problem& problem) {
  std::vector<StorageId> found;
  for (const plan::Value& value : problem.values)
    if (value.maker == plan::kNobody && value.appears == 0) found.push_back(value.storage);
  return found;
}

// With its tier, if one is given.
plan::Problem problem_of(const Trace& trace, const PlanArguments& arguments) {
  plan::Problem problem = plan::problem_of(trace);
  if (!arguments.tier.empty()) problem.tier = tier_in(arguments.tier);
  if (arguments.repeats) problem.repeats = constants_at_first(problem);
  return problem;
}

Result run(const PlanArguments& arguments) {
  check_numbers(arguments);
  const base::BudgetSpec spec = base::parse_budget(arguments.budget);
  const plan::MethodEntry& method = plan::find_method(arguments.method);
  check_tier(arguments, method);
  const Trace trace = trace::read_trace(arguments.trace);
  Result result{problem_of(trace, arguments), spec, {}, {}, arguments.method, {}};
  result.budget = spec.resolve(result.problem.peak);
  result.floor = plan::floor_of(result.problem);
  ProgressBar bar{"planning"};
  plan::MethodOptions options = options_of(arguments, bar);
  if (method.begins_with_guess)
    options.guesses = policy_guesses(trace, result.problem, result.budget);
  result.answer.outcome = Outcome::Infeasible;
  if (result.budget >= result.floor.budget)
    result.answer = method.plan(result.problem, result.budget, options);
  if (method.limits_runs) result.most_runs = arguments.intervals;
  const bool small = result.problem.ops.size() <= kMostForSmallest && !result.problem.tier;
  if (result.answer.outcome == Outcome::Infeasible && small && !result.too_few_runs())
    result.smallest = plan::smallest_budget(result.problem, options);
  return result;
}

std::size_t count(const Schedule& schedule, Move move) {
  return static_cast<std::size_t>(std::ranges::count(schedule.moves, move, &ScheduledMove::move));
}

std::size_t fetches(const Schedule& schedule) {
  return count(schedule, Move::Fetch) + count(schedule, Move::Prefetch);
}

std::size_t recomputes(const Result& result) {
  return count(result.answer.plan->schedule, Move::Compute) - result.problem.ops.size();
}

// The smallest budget that is known to do, or the one below which nothing does.
std::pair<Bytes, std::uint32_t> least(const Result& result) {
  if (result.smallest) return {result.smallest->budget, result.smallest->op};
  return {result.floor.budget, result.floor.op};
}

Json json_of_result(const Result& result) {
  const plan::Problem& problem = result.problem;
  Json json = {{"trace", problem.source},
               {"method", result.method},
               {"budget", base::format_budget(result.spec)},
               {"budget_bytes", result.budget.n},
               {"trace_peak_bytes", problem.peak.n},
               {"floor_bytes", result.floor.budget.n},
               {"status", name(result.answer.outcome)},
               {"base_ns", problem.base_cost.n},
               {"slowdown", nullptr},
               {"seconds", result.answer.seconds}};
  if (result.most_runs > 0) json["intervals"] = result.most_runs;
  if (result.too_few_runs()) return json;
  if (result.answer.outcome == Outcome::Infeasible) {
    json["smallest_bytes"] = least(result).first.n;
    json["smallest_set_by"] = plan::place_of(problem, least(result).second);
    return json;
  }
  json["bound_ns"] = result.answer.bound.n;
  json["bound_slowdown"] = share(result.answer.bound.n, problem.base_cost.n);
  json["columns"] = result.answer.columns;
  json["rows"] = result.answer.rows;
  if (result.answer.refuted) json["refuted"] = true;
  if (!result.answer.plan) return json;
  const plan::Plan& found = *result.answer.plan;
  json["slowdown"] = found.slowdown(problem);
  json["cost_ns"] = found.cost.n;
  json["gap"] = share(found.cost.n - result.answer.bound.n, found.cost.n);
  json["peak_bytes"] = found.peak.n;
  json["recomputes"] = recomputes(result);
  json["evictions"] = count(found.schedule, Move::Evict);
  if (!problem.tier) return json;
  json["offloads"] = count(found.schedule, Move::Offload);
  json["fetches"] = fetches(found.schedule);
  json["tier_peak_bytes"] = found.tier_peak.n;
  json["waited_ns"] = found.waited.n;
  return json;
}

std::string verdict(const Result& result) {
  const plan::Answer& answer = result.answer;
  if (result.too_few_runs())
    return fmt::format(
        "infeasible with {} runs of an op at most; allow more by --intervals, or use --method milp",
        result.most_runs);
  const std::string kind =
      result.most_runs > 0 ? fmt::format(" with {} runs of an op at most", result.most_runs) : "";
  const double bound = share(answer.bound.n, result.problem.base_cost.n);
  switch (answer.outcome) {
    case Outcome::Optimal:
      return fmt::format("{:.4f} times the time without a budget, and none{} is better",
                         answer.plan->slowdown(result.problem), kind);
    case Outcome::Feasible:
      return fmt::format(
          "{:.4f} times the time without a budget; none{} is below {:.4f} (gap {:.2f} %)",
          answer.plan->slowdown(result.problem), kind, bound,
          100 * share(answer.plan->cost.n - answer.bound.n, answer.plan->cost.n));
    case Outcome::Infeasible:
      return fmt::format("infeasible: the smallest budget is {}{} ({} B, {:.4f}x), set by {}",
                         result.smallest ? "" : "at least ",
                         base::format_bytes(least(result).first), least(result).first.n,
                         share(least(result).first.n, result.problem.peak.n),
                         trace::printable(plan::place_of(result.problem, least(result).second)));
    case Outcome::Unknown:
      return "this method found no schedule that fits; try milp, or a larger budget";
  }
  return "";
}

void print_table(const Result& result) {
  const plan::Problem& problem = result.problem;
  const auto sized = [&](const char* key, Bytes bytes) {
    row(key, fmt::format("{} ({} B, {:.4f}x)", base::format_bytes(bytes), bytes.n,
                         share(bytes.n, problem.peak.n)));
  };
  row("trace", trace::printable(problem.source));
  row("method", result.method);
  row("result", verdict(result));
  if (result.answer.refuted) row("solver", "was wrong once: its claim is refuted and left out");
  sized("budget", result.budget);
  if (result.answer.plan) sized("used at most", result.answer.plan->peak);
  sized("peak of trace", problem.peak);
  sized("floor", result.floor.budget);
  row("without budget", base::format_nanos(problem.base_cost));
  if (result.answer.columns > 0)
    row("model", fmt::format("{} columns, {} rows, {:.1f} s", result.answer.columns,
                             result.answer.rows, result.answer.seconds));
  if (!result.answer.plan) return;
  row("time", base::format_nanos(result.answer.plan->cost));
  row("moves", fmt::format("{} ops run again, {} evictions", recomputes(result),
                           count(result.answer.plan->schedule, Move::Evict)));
  if (!problem.tier) return;
  row("copies", fmt::format("{} to the tier, {} back; {} waited for them",
                            count(result.answer.plan->schedule, Move::Offload),
                            fetches(result.answer.plan->schedule),
                            base::format_nanos(result.answer.plan->waited)));
  sized("tier at most", result.answer.plan->tier_peak);
}

void make(const PlanArguments& arguments, int& exit_code) {
  const Result result = run(arguments);
  if (result.answer.plan && !arguments.out.empty())
    write_schedule(arguments.out, result.answer.plan->schedule);
  if (arguments.json) return print_json(json_of_result(result));
  print_table(result);
  if (!result.answer.plan) exit_code = 1;
}

void check(const PlanArguments& arguments, int& exit_code) {
  const plan::Problem problem = problem_of(trace::read_trace(arguments.trace), arguments);
  Schedule schedule = read_schedule(arguments.check);
  if (const auto difference = plan::first_difference(problem, schedule.ops))
    throw BadInput(fmt::format("{} is for another trace: {}",
                               trace::printable(arguments.check.native()),
                               trace::printable(*difference)));
  if (!arguments.budget.empty())
    schedule.budget = base::parse_budget(arguments.budget).resolve(problem.peak);
  const plan::Verdict verdict = plan::verify(problem, schedule);
  if (arguments.json)
    return print_json({{"trace", problem.source},
                       {"schedule", arguments.check.native()},
                       {"budget_bytes", schedule.budget.n},
                       {"valid", !verdict.violation},
                       {"violation", verdict.violation ? Json(*verdict.violation) : Json()},
                       {"slowdown", share(verdict.cost.n, problem.base_cost.n)},
                       {"cost_ns", verdict.cost.n},
                       {"peak_bytes", verdict.peak.n}});
  if (verdict.violation) {
    fmt::print("wrong at move {}: {}\n", verdict.at, trace::printable(*verdict.violation));
    exit_code = 1;
    return;
  }
  fmt::print("right: {:.4f} times the time without a budget, {} at most of {}\n",
             share(verdict.cost.n, problem.base_cost.n), base::format_bytes(verdict.peak),
             base::format_bytes(schedule.budget));
}

std::string method_help() {
  std::string help = "Methods:\n";
  for (const plan::MethodEntry& entry : plan::methods())
    help += fmt::format("  {:<14}  {}\n", entry.name, entry.about);
  return help;
}

void plan_on_devices(const PlanArguments& arguments, int& exit_code) {
  if (!arguments.budget.empty()) throw BadInput("--devices says the budgets; drop --budget");
  if (!arguments.check.empty()) return check_on_devices(arguments, exit_code);
  const plan::MethodEntry& method = plan::find_method(arguments.method);
  check_tier(arguments, method);
  if (method.plan_on_devices == nullptr)
    throw BadInput(fmt::format("--method {} has one device; use --method xengine or drop --devices",
                               method.name));
  make_on_devices(arguments, method, exit_code);
}

void plan_one(const PlanArguments& arguments, int& exit_code) {
  if (!arguments.check.empty()) return check(arguments, exit_code);
  if (plan::find_method(arguments.method).plan == nullptr)
    throw BadInput(fmt::format("--method {} needs devices; add --devices FILE (docs/planner.md)",
                               arguments.method));
  if (arguments.budget.empty()) throw BadInput("--budget is required; see weir plan --help");
  make(arguments, exit_code);
}

void plan_or_check(const PlanArguments& arguments, int& exit_code) {
  if (arguments.devices.empty()) return plan_one(arguments, exit_code);
  plan_on_devices(arguments, exit_code);
}

}  // namespace

void add_plan_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command = app.add_subcommand(
      "plan", "Find the best schedule of a trace inside a budget, and how good any could be");
  const auto option = [&](const char* option_name, auto& value, const char* help) {
    return command->add_option(option_name, value, help);
  };
  option("TRACE", arguments->trace, "Weir trace, DTR log or Checkmate graph")->required();
  option("--budget", arguments->budget, "2GiB, 1500MB, 4096, or 0.5x of the trace's peak");
  option("--devices", arguments->devices, "File with the devices of xengine, and their budgets");
  option("--tier", arguments->tier, "Where copies go (fast, poet): 2GiB,write=2GB/s,read=1GB/s");
  option("--method", arguments->method, "How to plan; see below")->capture_default_str();
  option("--time-limit", arguments->seconds, "Seconds for a solver")->capture_default_str();
  option("--threads", arguments->threads, "Of a solver; 0: all")->capture_default_str();
  option("--rounds", arguments->rounds,
         "milp, poet, intervals: of running ops again between two first runs")
      ->capture_default_str();
  option("--intervals", arguments->intervals, "intervals: how often each op may run")
      ->capture_default_str();
  option("-o,--output", arguments->out, "Write the schedule to this file");
  option("--check", arguments->check, "Check the schedule in this file instead");
  command->add_flag(
      "--repeats", arguments->repeats,
      "fast: the step comes again; what is there at both ends is in the tier at both, "
      "or at neither");
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  command->footer(method_help() +
                  "Example: weir plan traces/demo.jsonl.zst --budget 0.5x --method milp");
  command->callback([arguments, &exit_code] { plan_or_check(*arguments, exit_code); });
}

}  // namespace weir::app
