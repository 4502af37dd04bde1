#pragma once

#include <optional>

#include "plan/answer.h"

namespace weir::plan {

// For steps of thousands of ops: the bound of GapModel, which holds for every schedule without
// copies, and the better of what `fast` finds and what comes of the model's own solution.
[[nodiscard]] Answer solve_gaps(const Problem& problem, Bytes budget, const MethodOptions& options);

}  // namespace weir::plan
