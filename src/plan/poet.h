#pragma once

#include <optional>

#include "plan/answer.h"

namespace weir::plan {

// The best schedule that runs again, offloads and fetches, of POET's kind: in each round every op
// runs at most once, in the trace's order; copies are waited for. Begins with the guess, if that
// fits the budget and there is one round.
[[nodiscard]] Answer solve_poet(const Problem& problem, Bytes budget, const MethodOptions& options,
                                const std::optional<Retention>& guess = {});

}  // namespace weir::plan
