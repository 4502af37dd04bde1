#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "plan/problem.h"

namespace weir::plan {

struct Verdict {
  std::optional<std::string> violation;  // the first one, in words
  std::size_t at = 0;                    // the move that broke a rule
  Nanos cost;                            // when the last move was done, from the start on
  Nanos waited;                          // the part of it in which nothing but copies went on
  Bytes peak;
  std::uint32_t peak_op = 0;  // the op that ran, or would have run next, when the peak was reached
};

// Carries out a schedule move by move: every op finds what it reads, in the version it read; ops
// run for the first time in the trace's order; what must stay stays, or the tier has a copy; no
// moment has more bytes than the budget. Copies run beside ops, one at a time in each direction.
// Stops at the first violation.
[[nodiscard]] Verdict verify(const Problem& problem, const Schedule& schedule);

}  // namespace weir::plan
