#pragma once

#include <span>
#include <vector>

#include "cost/step.h"
#include "weir/trace.h"
#include "weir/types.h"

namespace weir::cost {

// For each op of the trace up to the end of the range: the bytes of what it makes that lie on pages
// which the system gives out for it, as with glibc's malloc on one thread. What is freed is used
// again, best fit first; what is large, or at the end of the heap, goes back to the system.
// `works[i]` tells the copies that op i makes and lets go; an op beyond them makes none.
[[nodiscard]] std::vector<Bytes> fresh_pages(const Trace& trace, const StepRange& range,
                                             std::span<const OpWork> works = {});

}  // namespace weir::cost
