#include "plan/intervals.h"

#include <algorithm>
#include <utility>

#include "plan/bounds.h"
#include "plan/checkpoints.h"
#include "plan/interval_model.h"
#include "plan/rounds.h"

namespace weir::plan {
namespace {

constexpr int kAttempts = 3;

// A solution that exceeds the budget in moments the model was not told of is refused, and the
// solver asked again with those. If it still does by a few bytes, for a solver works with
// tolerances, it is asked for so many bytes less. Every bound on the way holds, but for the latter.
class Staged {
 public:
  Staged(const Problem& problem, Bytes budget, const MethodOptions& options,
         const std::optional<Retention>& guess)
      : problem_{problem}, budget_{budget}, options_{options} {
    answer_.bound = cost_without_budget(problem);
    if (guess) begin_with(*guess);
  }

  Answer answer() && {
    Bytes less;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      IntervalModel model{problem_, budget_ - less, options_.intervals};
      const Bytes excess = refine(model, attempt == 0);
      if (answer_.outcome == Outcome::Infeasible)
        return {.outcome = Outcome::Infeasible, .seconds = answer_.seconds};
      if (excess == Bytes{}) break;
      less += excess;
    }
    settle(answer_, cost_without_budget(problem_));
    return std::move(answer_);
  }

 private:
  void begin_with(const Retention& guess) {
    std::optional<Runs> runs = runs_for(problem_, guess);
    if (!runs) return;
    Plan plan = plan_of(problem_, guess, *runs, budget_);
    if (plan.peak > budget_) return;
    if (most_runs_of_an_op(problem_, plan.schedule) > options_.intervals) return;
    answer_.plan = std::move(plan);
    guess_.emplace(guess, std::move(*runs));
  }

  // By how much the last solution exceeds the budget although the model knows of it.
  Bytes refine(IntervalModel& model, bool bounds) {
    while (answer_.seconds < options_.seconds) {
      const Solution solution = ask(model);
      if (solution.outcome == Outcome::Infeasible && bounds) claim_none();
      if (solution.outcome == Outcome::Infeasible) return {};
      if (bounds) answer_.bound = std::max(answer_.bound, bound_of(model, solution.bound));
      if (solution.outcome == Outcome::Unknown) return {};
      std::optional<Plan> plan = plan_of(problem_, model.retention_in(solution.values), budget_);
      if (!plan) return {};
      const Bytes excess = plan->peak - budget_;
      if (excess <= Bytes{}) take(std::move(*plan));
      if (excess <= Bytes{} || proven()) return {};
      if (model.add_violated(solution.values) == 0) return excess;
    }
    return {};
  }

  Solution ask(const IntervalModel& model) {
    SolveOptions solver = solver_options(model, options_, options_.seconds - answer_.seconds);
    if (guess_) solver.guess = model.guess_of(guess_->first, guess_->second);
    Solution solution = solve(model.program(), solver);
    answer_.seconds += solution.seconds;
    answer_.columns = model.program().columns();
    answer_.rows = model.program().rows();
    answer_.refuted = answer_.refuted || solution.refuted;
    return solution;
  }

  void claim_none() {
    if (answer_.plan)
      answer_.refuted = true;
    else
      answer_.outcome = Outcome::Infeasible;
  }

  void take(Plan plan) {
    if (!answer_.plan || plan.cost < answer_.plan->cost) answer_.plan = std::move(plan);
  }

  [[nodiscard]] bool proven() const { return answer_.plan && answer_.plan->cost <= answer_.bound; }

  const Problem& problem_;
  Bytes budget_;
  const MethodOptions& options_;
  std::optional<std::pair<Retention, Runs>> guess_;
  Answer answer_;
};

}  // namespace

Answer solve_intervals(const Problem& problem, Bytes budget, const MethodOptions& options,
                       const std::optional<Retention>& guess) {
  if (options.rounds == 1) return Staged{problem, budget, options, guess}.answer();
  const Problem spread_out = with_rounds(problem, options.rounds);
  Answer answer = Staged{spread_out, budget, options, {}}.answer();
  if (answer.plan) {
    Plan& plan = *answer.plan;
    plan.schedule = without_rounds(problem, options.rounds, std::move(plan.schedule));
    plan.peak_op = (plan.peak_op + 1) / options.rounds - 1;
  }
  return answer;
}

}  // namespace weir::plan
