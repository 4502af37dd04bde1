#include "plan/gaps.h"

#include <algorithm>

#include "plan/bounds.h"
#include "plan/fast.h"
#include "plan/gap_model.h"
#include "plan/search.h"

namespace weir::plan {
namespace {

constexpr double kForFractions = 0.5;        // of the time
constexpr std::int64_t kWork = 250'000'000;  // to make a schedule of a solution
constexpr Taste kTastes[] = {{0, 0, 0.5}, {0.5, 1, 0}, {1, 0, 0.25}};
constexpr int kMostInVain = 300;

// Rows are added until the solution breaks none; every one on the way gives a bound.
void refine(GapModel& model, bool relax, double until, const MethodOptions& options,
            Solution& solution, Answer& answer) {
  while (answer.seconds < until) {
    MethodOptions quiet = options;
    quiet.progress = {};
    SolveOptions solver = solver_options(model, quiet, until - answer.seconds);
    solver.relax = relax;
    Solution next = solve(model.program(), solver);
    answer.seconds += next.seconds;
    // With everything away no row is broken, so a solver that calls it infeasible is mistaken.
    if (next.outcome == Outcome::Infeasible) answer.refuted = true;
    if (next.outcome == Outcome::Infeasible) return;
    answer.refuted = answer.refuted || next.refuted;
    const bool bounds = !relax || next.outcome == Outcome::Optimal;
    if (bounds) answer.bound = std::max(answer.bound, bound_of(model, next.bound));
    if (next.outcome == Outcome::Unknown || next.values.empty()) return;
    solution = std::move(next);
    if (options.progress) options.progress({}, answer.bound);
    if (model.add_violated(solution.values) == 0) return;
  }
}

// What the solution has away goes, and then what else must.
std::optional<Stays> stays_of(const Problem& problem, Bytes budget, const GapModel& model,
                              const Solution& solution, const Taste& taste) {
  Stays stays{problem};
  for (const GapModel::Gap& gap : model.gaps()) {
    if (solution.values[static_cast<std::size_t>(gap.column)] < 0.5) continue;
    const std::optional<Span> span = stays.gap_at(gap.first, gap.value);
    if (!span || !stays.keeps(gap.first, gap.value)) continue;
    const std::size_t mark = stays.mark();
    stays.drop(gap.value, *span);
    if (!stays.sound()) stays.undo(mark);
  }
  Search search{std::move(stays), budget, kWork};
  if (!search.fit(taste)) return std::nullopt;
  search.improve(taste);
  for (int in_vain = 0; in_vain < kMostInVain && search.work_left() > 0; ++in_vain)
    if (search.shake(kTastes[static_cast<std::size_t>(in_vain) % std::size(kTastes)])) in_vain = 0;
  return std::move(search.stays());
}

void take(Answer& answer, const std::optional<Stays>& stays, Bytes budget) {
  if (!stays || (answer.plan && answer.plan->cost <= stays->cost())) return;
  answer.plan = stays->plan(budget);
}

}  // namespace

Answer solve_gaps(const Problem& problem, Bytes budget, const MethodOptions& options) {
  Answer answer{.bound = cost_without_budget(problem)};
  GapModel model{problem, budget};
  if (!model.possible()) return {.outcome = Outcome::Infeasible};
  take(answer, plan_fast(problem, budget), budget);
  model.add_violated({});
  Solution solution;
  refine(model, true, kForFractions * options.seconds, options, solution, answer);
  refine(model, false, options.seconds, options, solution, answer);
  answer.columns = model.program().columns();
  answer.rows = model.program().rows();
  if (!solution.values.empty())
    for (const Taste& taste : kTastes)
      take(answer, stays_of(problem, budget, model, solution, taste), budget);
  settle(answer, cost_without_budget(problem));
  return answer;
}

}  // namespace weir::plan
