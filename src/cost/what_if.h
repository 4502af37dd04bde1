#pragma once

#include <cstdint>
#include <vector>

#include "cost/step.h"
#include "weir/trace.h"

namespace weir::cost {

// Other ways to run the same step.

// Every other sweep runs from the ends of its items to their beginnings.
[[nodiscard]] Step alternating(Step step);

// An elementwise op runs inside of the op right before it, if that makes what it reads: what lies
// between them is not read again, and not written if nobody else wants it.
[[nodiscard]] Step fused(const Step& step);

struct Batch {
  std::int64_t size = 0;      // samples; 0: not found
  std::vector<bool> batched;  // the items that have a part for each of them
};

// The batch is the most common first dimension, by bytes, of what the step makes and lets go.
[[nodiscard]] Batch batch_of(const Trace& trace, const Step& step);

// Forward and backward run for one part of the batch after the other, all parts of equal size
// (`parts` divides the batch); gradients of weights are added up.
[[nodiscard]] Step in_parts(const Step& step, const std::vector<bool>& batched,
                            std::uint32_t parts);

}  // namespace weir::cost
