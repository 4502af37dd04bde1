#include "plan/poet.h"

#include <algorithm>

#include "plan/bounds.h"
#include "plan/poet_model.h"
#include "plan/rounds.h"

namespace weir::plan {
namespace {

constexpr int kAttempts = 3;

Bytes capacity_of(const Problem& problem) {
  return problem.tier ? problem.tier->capacity : Bytes{};
}

std::vector<Entry> use_guess(Answer& answer, const Problem& problem, const PoetModel& model,
                             Bytes budget, const std::optional<Retention>& guess) {
  const std::optional<Runs> runs = guess ? runs_for(problem, *guess) : std::nullopt;
  if (!runs) return {};
  Plan plan = plan_of(problem, *guess, *runs, budget);
  if (plan.peak > budget) return {};
  if (!answer.plan) answer.plan = std::move(plan);
  return model.guess_of(*guess, *runs);
}

// What a solver's tolerances may have let through.
struct Excess {
  Bytes bytes, copies;
};

Excess excess_of(const Plan& plan, const Problem& problem, Bytes budget) {
  return {std::max(Bytes{}, plan.peak - budget),
          std::max(Bytes{}, plan.tier_peak - capacity_of(problem))};
}

// A solution that exceeds the budget or the tier by a few bytes is refused, and the solver asked
// again with so many bytes less. The first model's bound holds for all.
Answer solve_staged(const Problem& problem, Bytes budget, const MethodOptions& options,
                    const std::optional<Retention>& guess) {
  Answer answer{.bound = cost_without_budget(problem)};
  Excess less;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const PoetModel model{problem, budget - less.bytes, capacity_of(problem) - less.copies};
    SolveOptions solver = solver_options(model, options, options.seconds - answer.seconds);
    solver.guess = use_guess(answer, problem, model, budget, guess);
    const Solution solution = solve(model.program(), solver);
    answer.seconds += solution.seconds;
    if (attempt == 0) {
      answer.columns = model.program().columns();
      answer.rows = model.program().rows();
      if (solution.outcome == Outcome::Infeasible && !answer.plan)
        return {.outcome = Outcome::Infeasible, .seconds = answer.seconds};
      answer.refuted = solution.refuted || solution.outcome == Outcome::Infeasible;
      answer.bound = std::max(answer.bound, bound_of(model, solution.bound));
    }
    if (solution.outcome == Outcome::Infeasible || solution.outcome == Outcome::Unknown) break;
    Plan plan = plan_of(problem, model.plan_in(solution.values), budget);
    const Excess excess = excess_of(plan, problem, budget);
    less.bytes += excess.bytes;
    less.copies += excess.copies;
    if (excess.bytes.n > 0 || excess.copies.n > 0) continue;
    if (!answer.plan || plan.cost < answer.plan->cost) answer.plan = std::move(plan);
    break;
  }
  settle(answer, cost_without_budget(problem));
  return answer;
}

}  // namespace

Answer solve_poet(const Problem& problem, Bytes budget, const MethodOptions& options,
                  const std::optional<Retention>& guess) {
  if (options.rounds == 1) return solve_staged(problem, budget, options, guess);
  Answer answer = solve_staged(with_rounds(problem, options.rounds), budget, options, {});
  if (answer.plan) {
    Plan& plan = *answer.plan;
    plan.schedule = without_rounds(problem, options.rounds, std::move(plan.schedule));
    plan.peak_op = (plan.peak_op + 1) / options.rounds - 1;
  }
  return answer;
}

}  // namespace weir::plan
