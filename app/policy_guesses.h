#pragma once

#include <vector>

#include "plan/retention.h"
#include "weir/trace.h"

namespace weir::app {

// What stays from op to op when policies decide, in this budget and a little less: where a solver
// may begin. Nothing for traces whose replay would take long.
[[nodiscard]] std::vector<plan::Retention> policy_guesses(const Trace& trace,
                                                          const plan::Problem& problem,
                                                          Bytes budget);

}  // namespace weir::app
