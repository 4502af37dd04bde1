#include "device_plan.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "devices_file.h"
#include "output.h"
#include "plan/device_verify.h"
#include "plan/xengine.h"
#include "schedule_file.h"
#include "trace/message.h"
#include "trace/reader.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;
using plan::DeviceAction;
using plan::DeviceMove;
using plan::Outcome;

struct Result {
  plan::Problem problem;
  plan::Devices devices;
  std::string method;
  plan::DeviceAnswer answer = {};
  std::optional<plan::SmallestShare> smallest = {};  // asked for if there is no schedule
};

Result run(const PlanArguments& arguments, const plan::MethodEntry& method) {
  check_numbers(arguments);
  plan::Problem problem = plan::problem_of(trace::read_trace(arguments.trace));
  plan::Devices devices = read_devices(arguments.devices, problem);
  Result result{std::move(problem), std::move(devices), arguments.method};
  ProgressBar bar{"planning"};
  const plan::MethodOptions options = options_of(arguments, bar);
  result.answer = method.plan_on_devices(result.problem, result.devices, options);
  if (result.answer.outcome == Outcome::Infeasible)
    result.smallest = plan::smallest_share(result.problem, result.devices, options);
  return result;
}

std::size_t count(const Result& result, DeviceMove move) {
  return static_cast<std::size_t>(
      std::ranges::count(result.answer.plan->schedule.actions, move, &DeviceAction::move));
}

std::size_t runs_on(const Result& result, std::uint32_t device) {
  const auto runs = [&](const DeviceAction& action) {
    return action.move == DeviceMove::Compute && index(action.device) == device;
  };
  return static_cast<std::size_t>(
      std::ranges::count_if(result.answer.plan->schedule.actions, runs));
}

Json json_of_device(const Result& result, std::uint32_t i) {
  const plan::DeviceSpec& device = result.devices.all[i];
  Json json = {{"name", device.name}, {"budget_bytes", device.budget.n}};
  if (result.smallest) json["smallest_bytes"] = result.smallest->budgets[i].n;
  if (!result.answer.plan) return json;
  json["peak_bytes"] = result.answer.plan->peaks[i].n;
  json["runs"] = runs_on(result, i);
  return json;
}

Json json_of_result(const Result& result) {
  const plan::DeviceAnswer& answer = result.answer;
  const std::int64_t fastest = plan::fastest_cost(result.problem, result.devices).n;
  Json json = {{"trace", result.problem.source},
               {"method", result.method},
               {"trace_peak_bytes", result.problem.peak.n},
               {"status", name(answer.outcome)},
               {"fastest_ns", fastest},
               {"slowdown", nullptr},
               {"seconds", answer.seconds},
               {"devices", Json::array()}};
  for (std::uint32_t i = 0; i < result.devices.count(); ++i)
    json["devices"].push_back(json_of_device(result, i));
  if (result.smallest) json["smallest_share"] = result.smallest->share;
  if (answer.outcome == Outcome::Infeasible) return json;
  json["bound_ns"] = answer.bound.n;
  json["columns"] = answer.columns;
  json["rows"] = answer.rows;
  if (!answer.plan) return json;
  json["slowdown"] = share(answer.plan->cost.n, fastest);
  json["cost_ns"] = answer.plan->cost.n;
  json["gap"] = share(answer.plan->cost.n - answer.bound.n, answer.plan->cost.n);
  json["recomputes"] = count(result, DeviceMove::Compute) - result.problem.ops.size();
  json["copies"] = count(result, DeviceMove::Copy);
  json["evictions"] = count(result, DeviceMove::Evict);
  return json;
}

std::string what_would_do(const Result& result) {
  if (!result.smallest) return "infeasible with these budgets";
  std::string budgets;
  for (std::uint32_t i = 0; i < result.devices.count(); ++i)
    budgets +=
        fmt::format("{}{} {}", i == 0 ? "" : ", ", trace::printable(result.devices.all[i].name),
                    base::format_bytes(result.smallest->budgets[i]));
  return fmt::format("infeasible: all budgets would have to be {:.4f} times as large; {} would do",
                     result.smallest->bound, budgets);
}

std::string verdict(const Result& result) {
  const plan::DeviceAnswer& answer = result.answer;
  if (answer.outcome == Outcome::Infeasible) return what_would_do(result);
  if (!answer.plan) return "no schedule was found in time; try a longer --time-limit";
  const std::int64_t fastest = plan::fastest_cost(result.problem, result.devices).n;
  const double slowdown = share(answer.plan->cost.n, fastest);
  if (answer.outcome == Outcome::Optimal)
    return fmt::format("{:.4f} times the time of each op where it is fastest; none is better",
                       slowdown);
  return fmt::format("{:.4f} times the time of each op where it is fastest; none is below {:.4f}",
                     slowdown, share(answer.bound.n, fastest));
}

void print_table(const Result& result) {
  const plan::DeviceAnswer& answer = result.answer;
  row("trace", trace::printable(result.problem.source));
  row("method", result.method);
  row("result", verdict(result));
  for (std::uint32_t i = 0; i < result.devices.count(); ++i) {
    const plan::DeviceSpec& device = result.devices.all[i];
    std::string use = fmt::format("budget {}", base::format_bytes(device.budget));
    if (answer.plan)
      use += fmt::format(", used at most {}, {} runs", base::format_bytes(answer.plan->peaks[i]),
                         runs_on(result, i));
    row(trace::printable(device.name), use);
  }
  row("peak of trace", base::format_bytes(result.problem.peak));
  if (answer.columns > 0)
    row("model",
        fmt::format("{} columns, {} rows, {:.1f} s", answer.columns, answer.rows, answer.seconds));
  if (!answer.plan) return;
  row("time", base::format_nanos(answer.plan->cost));
  row("moves", fmt::format("{} ops run again, {} copies, {} evictions",
                           count(result, DeviceMove::Compute) - result.problem.ops.size(),
                           count(result, DeviceMove::Copy), count(result, DeviceMove::Evict)));
}

}  // namespace

void make_on_devices(const PlanArguments& arguments, const plan::MethodEntry& method,
                     int& exit_code) {
  const Result result = run(arguments, method);
  if (result.answer.plan && !arguments.out.empty())
    write_schedule(arguments.out, result.answer.plan->schedule, result.devices);
  if (arguments.json) return print_json(json_of_result(result));
  print_table(result);
  if (!result.answer.plan) exit_code = 1;
}

void check_on_devices(const PlanArguments& arguments, int& exit_code) {
  const plan::Problem problem = plan::problem_of(trace::read_trace(arguments.trace));
  plan::refuse_versions(problem);
  const plan::Devices devices = read_devices(arguments.devices, problem);
  const plan::DeviceSchedule schedule = read_device_schedule(arguments.check, devices);
  if (const auto difference = plan::first_difference(problem, schedule.ops))
    throw BadInput(fmt::format("{} is for another trace: {}",
                               trace::printable(arguments.check.native()),
                               trace::printable(*difference)));
  const plan::DeviceVerdict verdict = plan::verify(problem, devices, schedule);
  Json peaks = Json::array();
  for (Bytes peak : verdict.peaks) peaks.push_back(peak.n);
  if (arguments.json)
    return print_json({{"trace", problem.source},
                       {"schedule", arguments.check.native()},
                       {"valid", !verdict.violation},
                       {"violation", verdict.violation ? Json(*verdict.violation) : Json()},
                       {"cost_ns", verdict.cost.n},
                       {"peak_bytes", std::move(peaks)}});
  if (verdict.violation) {
    fmt::print("wrong at move {}: {}\n", verdict.at, trace::printable(*verdict.violation));
    exit_code = 1;
    return;
  }
  fmt::print("right: {}, all budgets are kept\n", base::format_nanos(verdict.cost));
}

}  // namespace weir::app
