#pragma once

#include "plan/problem.h"

namespace weir::plan {

// The same problem with rounds - 1 empty ops of no cost before each op and before the end, so that
// each becomes a stage of its own: then ops run again up to `rounds` times between two first runs,
// in an order that is the trace's only within a round.
[[nodiscard]] Problem with_rounds(const Problem& problem, std::uint32_t rounds);

// The schedule of such a problem, for the problem it was made from.
[[nodiscard]] Schedule without_rounds(const Problem& problem, std::uint32_t rounds,
                                      Schedule schedule);

}  // namespace weir::plan
