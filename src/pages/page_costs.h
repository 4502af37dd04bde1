#pragma once

#include "weir/trace.h"

namespace weir::pages {

// Tries out on this machine, in some tenths of a second, what it costs to write to pages first, and
// to move some beside a thread that computes.
[[nodiscard]] PageCosts measure_page_costs();

}  // namespace weir::pages
