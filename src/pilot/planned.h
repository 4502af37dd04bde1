#pragma once

#include <memory>

#include "weir/registry.h"

namespace weir::pilot {

// Follows a plan where the step does what a step before did, and `online` elsewhere.
[[nodiscard]] std::unique_ptr<Policy> make_planned(std::unique_ptr<Policy> online,
                                                   const PolicyInputs& inputs);

}  // namespace weir::pilot
