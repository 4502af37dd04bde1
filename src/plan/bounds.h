#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "plan/answer.h"

namespace weir::plan {

// Costs are whole multiples of a model's unit, and a solver's bound is a little uncertain.
template <typename Model>
[[nodiscard]] Nanos bound_of(const Model& model, double bound) {
  if (!std::isfinite(bound)) return {std::llround(model.amount_of(0))};
  const double safe = bound - 1e-5 - 1e-7 * std::abs(bound);
  return {std::llround(model.amount_of(std::max(0.0, std::ceil(safe))))};
}

// Both must outlive the solver.
template <typename Model>
[[nodiscard]] SolveOptions solver_options(const Model& model, const MethodOptions& options,
                                          double seconds) {
  SolveOptions solver{.seconds = seconds, .threads = options.threads};
  if (options.progress)
    solver.progress = [&model, &options](double best, double bound) {
      const bool found = std::isfinite(best);
      options.progress(found ? Nanos{std::llround(model.amount_of(best))} : Nanos{},
                       bound_of(model, bound));
      return true;
    };
  return solver;
}

// A sum of quantities is a multiple of what divides each.
template <typename Quantities>
[[nodiscard]] std::int64_t common_divisor(const Quantities& quantities) {
  std::int64_t divisor = 0;
  for (const std::int64_t quantity : quantities) divisor = std::gcd(divisor, quantity);
  return std::max<std::int64_t>(divisor, 1);
}

}  // namespace weir::plan
