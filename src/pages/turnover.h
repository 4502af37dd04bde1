#pragma once

#include "weir/trace.h"

namespace weir::pages {

// Tries out on this machine, in some milliseconds, what it costs to take the pages of a block for
// another and to give it others later, beside a thread that computes.
[[nodiscard]] Turnover measure_turnover();

}  // namespace weir::pages
