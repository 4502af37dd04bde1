#include "plan/milp.h"

#include <algorithm>
#include <cmath>

#include "plan/bounds.h"
#include "plan/formulation.h"
#include "plan/rounds.h"

namespace weir::plan {
namespace {

constexpr int kAttempts = 3;

std::vector<Entry> guess_in(const Problem& problem, const Formulation& model,
                            const std::optional<Retention>& guess) {
  if (!guess) return {};
  const std::optional<Runs> runs = runs_for(problem, *guess);
  return runs ? model.guess_of(*guess, *runs) : std::vector<Entry>{};
}

void use_guess(Answer& answer, const Problem& problem, Bytes budget,
               const std::optional<Retention>& guess) {
  if (!guess) return;
  std::optional<Plan> plan = plan_of(problem, *guess, budget);
  if (!plan || plan->peak > budget) return;
  answer.outcome = Outcome::Feasible;
  answer.plan = std::move(plan);
}

Answer infeasible(const Answer& answer) {
  return {.outcome = Outcome::Infeasible, .seconds = answer.seconds};
}

// True if the solution is a schedule that fits; if not, by how much it does not.
bool take(Answer& answer, Plan plan, Bytes budget, Bytes& excess) {
  plan.schedule.budget = budget;
  excess = plan.peak - budget;
  if (excess.n > 0) return false;
  if (!answer.plan || plan.cost < answer.plan->cost) answer.plan = std::move(plan);
  return true;
}

// A solver works with tolerances: a solution that exceeds the budget by a few bytes is refused, and
// the solver asked again with so many bytes less. The first model's bound holds for all.
Answer solve_staged(const Problem& problem, Bytes budget, const MethodOptions& options,
                    const std::optional<Retention>& guess) {
  Answer answer{.bound = cost_without_budget(problem)};
  use_guess(answer, problem, budget, guess);
  Bytes tried = budget;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Formulation model{problem, tried};
    SolveOptions solver = solver_options(model, options, options.seconds - answer.seconds);
    solver.guess = guess_in(problem, model, guess);
    const Solution solution = solve(model.program(), solver);
    answer.seconds += solution.seconds;
    if (attempt == 0) {
      answer.columns = model.program().columns();
      answer.rows = model.program().rows();
      if (solution.outcome == Outcome::Infeasible && !answer.plan) return infeasible(answer);
      answer.refuted = solution.refuted || solution.outcome == Outcome::Infeasible;
      answer.bound = std::max(answer.bound, bound_of(model, solution.bound));
    }
    if (solution.outcome == Outcome::Infeasible || solution.outcome == Outcome::Unknown) break;
    std::optional<Plan> plan = plan_of(problem, model.retention_in(solution.values), tried);
    Bytes excess;
    if (!plan || take(answer, std::move(*plan), budget, excess)) break;
    tried -= excess;
  }
  settle(answer, cost_without_budget(problem));
  return answer;
}

}  // namespace

Answer solve_milp(const Problem& problem, Bytes budget, const MethodOptions& options,
                  const std::optional<Retention>& guess) {
  if (options.rounds == 1) return solve_staged(problem, budget, options, guess);
  const Problem spread_out = with_rounds(problem, options.rounds);
  Answer answer = solve_staged(spread_out, budget, options, {});
  if (answer.plan) {
    Plan& plan = *answer.plan;
    plan.schedule = without_rounds(problem, options.rounds, std::move(plan.schedule));
    plan.peak_op = (plan.peak_op + 1) / options.rounds - 1;
  }
  return answer;
}

std::optional<Smallest> smallest_budget(const Problem& problem, const MethodOptions& options) {
  const Formulation model{problem, floor_of(problem).budget, Formulation::Aim::LeastPeak};
  const Solution solution =
      solve(model.program(), {.seconds = options.seconds, .threads = options.threads});
  if (solution.outcome == Outcome::Infeasible || solution.outcome == Outcome::Unknown)
    return std::nullopt;
  const std::optional<Plan> plan = plan_of(problem, model.retention_in(solution.values), {});
  if (!plan) return std::nullopt;
  const double bound = solution.outcome == Outcome::Optimal
                           ? static_cast<double>(plan->peak.n)
                           : std::floor(model.amount_of(solution.bound));
  return Smallest{plan->peak, {static_cast<std::int64_t>(bound)}, plan->peak_op};
}

}  // namespace weir::plan
