#include "plan/methods.h"

#include <algorithm>
#include <string>

#include "plan/checkpoints.h"
#include "plan/chen.h"
#include "plan/fast.h"
#include "plan/gaps.h"
#include "plan/greedy.h"
#include "plan/griewank.h"
#include "plan/intervals.h"
#include "plan/lp_round.h"
#include "plan/milp.h"
#include "plan/poet.h"
#include "plan/xengine.h"
#include "weir/errors.h"

namespace weir::plan {
namespace {

constexpr std::size_t kMostForGuess = 700;  // ops for which all others are tried first
constexpr std::size_t kMostToImprove = 300;

void try_keep_all(const Problem& problem, const Candidates& /*candidates*/, const Try& consider) {
  Retention retention{problem};
  for (std::uint32_t i = 0; i < problem.values.size(); ++i)
    keep_until(retention, problem, ValueId{i}, last_read(problem, ValueId{i}));
  consider(retention);
}

using Baseline = void (*)(const Problem&, const Candidates&, const Try&);
using Find = Candidates (*)(const Problem&);

template <Baseline baseline, Find find>
void try_into(Best& best, const Problem& problem) {
  baseline(problem, find(problem), [&](const Retention& retention) { best.consider(retention); });
}

void found(Answer& answer, Best& best, Nanos without_solver) {
  if (answer.outcome == Outcome::Infeasible) return;
  answer.plan = std::move(best.plan);
  settle(answer, without_solver);
}

template <Baseline baseline, Find find>
Answer plan_by(const Problem& problem, Bytes budget, const MethodOptions& /*options*/) {
  Best best{problem, budget};
  try_into<baseline, find>(best, problem);
  Answer answer{.bound = cost_without_budget(problem)};
  found(answer, best, cost_without_budget(problem));
  return answer;
}

void try_others(Best& best, const Problem& problem, Bytes budget) {
  try_into<try_keep_all, linear_candidates>(best, problem);
  if (const std::optional<Stays> fast = plan_fast(problem, budget))
    best.consider(fast->retention());
  if (problem.ops.size() > kMostForGuess) return;
  try_into<try_chen_greedy, linear_candidates>(best, problem);
  try_into<try_chen_greedy, articulation_points>(best, problem);
  try_into<try_chen_sqrt, linear_candidates>(best, problem);
  try_into<try_griewank, linear_candidates>(best, problem);
  try_greedy(problem, budget, [&](const Retention& retention) { best.consider(retention); });
}

Answer plan_by_greedy(const Problem& problem, Bytes budget, const MethodOptions& /*options*/) {
  Best best{problem, budget};
  try_greedy(problem, budget, [&](const Retention& retention) { best.consider(retention); });
  Answer answer{.bound = cost_without_budget(problem)};
  found(answer, best, cost_without_budget(problem));
  return answer;
}

Answer plan_by_fast(const Problem& problem, Bytes budget, const MethodOptions& /*options*/) {
  Answer answer{.bound = cost_without_budget(problem)};
  const std::optional<Stays> stays = plan_fast(problem, budget);
  if (!stays) return answer;
  answer.plan = stays->plan(budget);
  answer.outcome = answer.plan->cost <= answer.bound ? Outcome::Optimal : Outcome::Feasible;
  return answer;
}

Answer plan_by_lp(const Problem& problem, Bytes budget, const MethodOptions& options) {
  Best best{problem, budget};
  Answer answer = try_lp_round(problem, budget, options,
                               [&](const Retention& retention) { best.consider(retention); });
  found(answer, best, cost_without_budget(problem));
  return answer;
}

template <auto solver>
Answer solve_from(Best best, const Problem& problem, Bytes budget, const MethodOptions& options) {
  try_others(best, problem, budget);
  for (const Retention& guess : options.guesses) best.consider(guess);
  if (best.retention && problem.ops.size() <= kMostToImprove)
    best.consider(improved(problem, budget, *best.retention));
  Answer answer = solver(problem, budget, options, best.retention);
  if (answer.outcome != Outcome::Infeasible || options.rounds > 1) return answer;
  MethodOptions more = options;
  more.rounds = 2;  // in another order there may be one
  return solver(problem, budget, more, {});
}

template <auto solver>
Answer solve_by(const Problem& problem, Bytes budget, const MethodOptions& options) {
  return solve_from<solver>(Best{problem, budget}, problem, budget, options);
}

Answer plan_by_intervals(const Problem& problem, Bytes budget, const MethodOptions& options) {
  return solve_from<solve_intervals>(Best{problem, budget, options.intervals}, problem, budget,
                                     options);
}

constexpr MethodEntry kMethods[] = {
    {"milp", solve_by<solve_milp>, "the best there is, by mixed-integer programming; proves it",
     true},
    {"poet", solve_by<solve_poet>, "the same with copies to a tier, which are waited for", true,
     true, true},
    {.name = "intervals",
     .plan = plan_by_intervals,
     .about = "as milp, where each op runs at most --intervals times; solves sooner",
     .begins_with_guess = true,
     .limits_runs = true},
    {.name = "xengine",
     .plan = nullptr,
     .about = "the best on several devices, with copies between them; needs --devices",
     .plan_on_devices = solve_xengine},
    {"fast", plan_by_fast,
     "for thousands of ops: like greedy, sparse, and searches longer; --tier: copies beside ops",
     false, true},
    {"gaps", solve_gaps, "fast, with a bound for thousands of ops: which values are away when"},
    {"lp", plan_by_lp, "the same with fractions, rounded; gives a bound"},
    {"greedy", plan_by_greedy, "drops what is cheapest to bring back, by the bytes that lack"},
    {"chen_sqrt", plan_by<try_chen_sqrt, linear_candidates>, "every k-th op, k the root of all"},
    {"chen_sqrt_ap", plan_by<try_chen_sqrt, articulation_points>, "the same, cut points only"},
    {"chen_greedy", plan_by<try_chen_greedy, linear_candidates>, "segments of equal bytes"},
    {"chen_greedy_ap", plan_by<try_chen_greedy, articulation_points>, "the same, cut points only"},
    {"griewank", plan_by<try_griewank, linear_candidates>, "splits the chain again and again"},
    {"griewank_ap", plan_by<try_griewank, articulation_points>, "the same, cut points only"},
    {"keep_all", plan_by<try_keep_all, linear_candidates>, "nothing runs again"},
};

}  // namespace

std::span<const MethodEntry> methods() { return kMethods; }

const MethodEntry& find_method(std::string_view name) {
  const auto found = std::ranges::find(kMethods, name, &MethodEntry::name);
  if (found != std::end(kMethods)) return *found;
  std::string known;
  for (const MethodEntry& entry : kMethods) known.append(" ").append(entry.name);
  throw BadInput("there is no method '" + std::string(name) + "'; choose one of" + known);
}

}  // namespace weir::plan
