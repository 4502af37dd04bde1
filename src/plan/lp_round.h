#pragma once

#include "plan/answer.h"
#include "plan/checkpoints.h"

namespace weir::plan {

// Checkmate's approximation: the MILP with fractions allowed, for the budget less some shares of it
// (rounding adds to the memory), and then all that stays by more than a threshold stays, for
// several thresholds. Returns what is known by the relaxation for the whole budget: infeasible, or
// a bound.
Answer try_lp_round(const Problem& problem, Bytes budget, const MethodOptions& options,
                    const Try& consider);

}  // namespace weir::plan
