#pragma once

#include <memory>

#include "weir/registry.h"

namespace weir::pilot {

// Plans the rest of a step that was never seen before, and chooses as `online` does where it has no
// plan that it trusts.
[[nodiscard]] std::unique_ptr<Policy> make_foresight(std::unique_ptr<Policy> online);

}  // namespace weir::pilot
