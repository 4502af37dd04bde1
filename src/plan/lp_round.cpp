#include "plan/lp_round.h"

#include <algorithm>
#include <cmath>

#include "plan/formulation.h"

namespace weir::plan {
namespace {

constexpr double kShares[] = {1.0, 0.97, 0.94, 0.9, 0.85, 0.8};

void round(const Formulation& model, const std::vector<double>& values, const Try& consider) {
  for (int tenth = 1; tenth <= 9; ++tenth) consider(model.retention_in(values, tenth / 10.0));
}

}  // namespace

Answer try_lp_round(const Problem& problem, Bytes budget, const MethodOptions& options,
                    const Try& consider) {
  Answer answer{.bound = cost_without_budget(problem)};
  for (const double share : kShares) {
    const Bytes part{static_cast<std::int64_t>(static_cast<double>(budget.n) * share)};
    if (part < floor_of(problem).budget || answer.seconds >= options.seconds) break;
    const Formulation model{problem, part};
    const Solution solution = solve(
        model.program(),
        {.seconds = options.seconds - answer.seconds, .threads = options.threads, .relax = true});
    answer.seconds += solution.seconds;
    if (share == 1.0) {
      answer.columns = model.program().columns();
      answer.rows = model.program().rows();
      if (solution.outcome == Outcome::Infeasible) return {.outcome = Outcome::Infeasible};
      answer.refuted = solution.refuted;
      if (solution.outcome == Outcome::Optimal) {
        const double least = model.amount_of(solution.bound - 1e-6 * std::abs(solution.bound));
        answer.bound = std::max(answer.bound, Nanos{static_cast<std::int64_t>(std::ceil(least))});
      }
    }
    if (solution.outcome != Outcome::Optimal) break;
    round(model, solution.values, consider);
  }
  return answer;
}

}  // namespace weir::plan
