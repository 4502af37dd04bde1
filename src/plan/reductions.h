#pragma once

#include <vector>

#include "plan/problem.h"

namespace weir::plan {

// What an optimal schedule need not consider. Why nothing is lost by it: docs/planner.md.

// By value, the last stage in which it can be of use: no op that can still run needs it later.
[[nodiscard]] std::vector<Stage> last_uses(const Problem& problem);

// Up to this stage all that can still be of use fits the budget at once, and nothing is missing: so
// everything is kept and nothing runs again. The stage before the first, if there is no such stage;
// 0 then also means none.
[[nodiscard]] Stage roomy_until(const Problem& problem, const std::vector<Stage>& last_use,
                                Bytes budget);

}  // namespace weir::plan
