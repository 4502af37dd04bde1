#pragma once

#include <optional>

#include "plan/answer.h"

namespace weir::plan {

// The best schedule in which every op runs at most MethodOptions::intervals times (again: once
// less), otherwise of Checkmate's kind as in milp.h. Bound and infeasibility are of such schedules.
// Begins with the guess, if that is one and there is one round.
[[nodiscard]] Answer solve_intervals(const Problem& problem, Bytes budget,
                                     const MethodOptions& options,
                                     const std::optional<Retention>& guess = {});

}  // namespace weir::plan
