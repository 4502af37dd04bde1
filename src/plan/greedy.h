#pragma once

#include "plan/checkpoints.h"

namespace weir::plan {

// Where a solver begins: everything is kept at first; then, while the budget is exceeded somewhere,
// the stay goes that costs least to make up for, by the bytes it frees where they lack.
void try_greedy(const Problem& problem, Bytes budget, const Try& consider);

// Betters a schedule that fits: what is made again is kept instead, and if that does not fit, other
// stays go as above; for as long as one such change saves time.
[[nodiscard]] Retention improved(const Problem& problem, Bytes budget, const Retention& retention);

}  // namespace weir::plan
