#pragma once

#include "weir/tier.h"

namespace weir::tier {

// A transfer that is over, and whose wait() throws.
[[nodiscard]] Transfer failed(const TierError& error);

}  // namespace weir::tier
