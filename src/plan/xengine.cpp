#include "plan/xengine.h"

#include <algorithm>

#include "plan/bounds.h"
#include "plan/device_model.h"

namespace weir::plan {
namespace {

constexpr int kAttempts = 3;

// What a solver's tolerances have let through is taken from the budgets; true if there was any.
bool take_excess(Devices& tried, const DevicePlan& plan, const Devices& devices) {
  bool any = false;
  for (std::uint32_t i = 0; i < devices.count(); ++i) {
    const Bytes excess = plan.peaks[i] - devices.all[i].budget;
    if (excess.n <= 0) continue;
    tried.all[i].budget -= excess;
    any = true;
  }
  return any;
}

}  // namespace

DeviceAnswer solve_xengine(const Problem& problem, const Devices& devices,
                           const MethodOptions& options) {
  refuse_versions(problem);
  DeviceAnswer answer{.bound = fastest_cost(problem, devices)};
  Devices tried = devices;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const DeviceModel model{problem, tried};
    const Solution solution =
        solve(model.program(), solver_options(model, options, options.seconds - answer.seconds));
    answer.seconds += solution.seconds;
    if (attempt == 0) {
      answer.columns = model.program().columns();
      answer.rows = model.program().rows();
      if (solution.outcome == Outcome::Infeasible) return {.outcome = Outcome::Infeasible};
      answer.refuted = solution.refuted;
      answer.bound = std::max(answer.bound, bound_of(model, solution.bound));
    }
    if (solution.outcome == Outcome::Infeasible || solution.outcome == Outcome::Unknown) break;
    DevicePlan plan = plan_of(problem, devices, model.course_in(solution.values));
    if (take_excess(tried, plan, devices)) continue;
    answer.plan = std::move(plan);
    break;
  }
  settle(answer, fastest_cost(problem, devices));
  return answer;
}

std::optional<SmallestShare> smallest_share(const Problem& problem, const Devices& devices,
                                            const MethodOptions& options) {
  refuse_versions(problem);
  const DeviceModel model{problem, devices, DeviceModel::Aim::LeastShare};
  const Solution solution =
      solve(model.program(), {.seconds = options.seconds, .threads = options.threads});
  if (solution.outcome == Outcome::Infeasible || solution.outcome == Outcome::Unknown)
    return std::nullopt;
  DevicePlan plan = plan_of(problem, devices, model.course_in(solution.values));
  SmallestShare smallest{.share = 0, .bound = solution.bound};
  for (std::uint32_t i = 0; i < devices.count(); ++i)
    smallest.share =
        std::max(smallest.share, static_cast<double>(plan.peaks[i].n) /
                                     std::max(1.0, static_cast<double>(devices.all[i].budget.n)));
  smallest.budgets = std::move(plan.peaks);
  if (solution.outcome == Outcome::Optimal) smallest.bound = smallest.share;
  return smallest;
}

}  // namespace weir::plan
