#pragma once

#include <optional>

#include "plan/answer.h"

namespace weir::plan {

// The best schedule there is, of Checkmate's kind: in each round every op runs at most once, in the
// trace's order, and there is one round between two first runs. Begins with the guess, if that fits
// the budget and there is one round.
[[nodiscard]] Answer solve_milp(const Problem& problem, Bytes budget, const MethodOptions& options,
                                const std::optional<Retention>& guess = {});

// The smallest budget with which there is a schedule of that kind.
struct Smallest {
  Bytes budget;          // of a schedule that was found
  Bytes bound;           // no smaller one will do; equal if proven
  std::uint32_t op = 0;  // that needs it
};
// Nothing if no schedule was found in time.
[[nodiscard]] std::optional<Smallest> smallest_budget(const Problem& problem,
                                                      const MethodOptions& options);

}  // namespace weir::plan
