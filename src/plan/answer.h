#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "plan/linear_program.h"
#include "plan/problem.h"
#include "plan/retention.h"

namespace weir::plan {

// Told now and then while a solver runs: the best cost found so far (0: none yet) and the bound.
using Progress = std::function<void(Nanos best, Nanos bound)>;

struct MethodOptions {
  double seconds = 60;                  // a solver's limit
  int threads = 0;                      // 0: as many as the machine has
  std::uint32_t rounds = 1;             // of running ops again between two first runs (rounds.h)
  std::uint32_t intervals = 2;          // the most runs of an op (intervals.h), with the first
  std::vector<Retention> guesses = {};  // of others: where a solver may begin
  Progress progress = {};
};

// What a method found. `plan` fits the budget; `bound` is what no schedule of the model's kind can
// cost less than (the cost of running everything once, if nothing better is known).
struct Answer {
  Outcome outcome = Outcome::Unknown;
  std::optional<Plan> plan = {};
  Nanos bound = {};
  double seconds = 0;
  std::size_t columns = 0, rows = 0;  // of the solver's model
  bool refuted = false;               // the solver claimed what is not so; it is left out
};

// A solver's claims against a schedule of the model's kind: none costs less than the bound. If this
// one does, nothing is left of the bound but what holds without a solver.
template <typename Found>
void settle(Found& answer, Nanos without_solver) {
  if (!answer.plan) return;
  if (answer.bound > answer.plan->cost) {
    answer.bound = without_solver;
    answer.refuted = true;
  }
  answer.outcome = answer.plan->cost <= answer.bound ? Outcome::Optimal : Outcome::Feasible;
}

// The cost of running once what has not run yet.
[[nodiscard]] inline Nanos cost_without_budget(const Problem& problem) {
  Nanos sum;
  for (std::uint32_t op = problem.start.first; op < problem.end(); ++op)
    sum += problem.ops[op].cost;
  return sum;
}

}  // namespace weir::plan
