#pragma once

#include "plan/checkpoints.h"

namespace weir::plan {

// Where a solver begins: everything is kept at first; then, while the budget is exceeded somewhere,
// the stay goes that costs least to make up for, by the bytes it frees where they lack. What turns
// out not to have been necessary is kept again.
void try_greedy(const Problem& problem, Bytes budget, const Try& consider);

}  // namespace weir::plan
