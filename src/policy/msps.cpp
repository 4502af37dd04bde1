#include "policy/costs.h"
#include "policy/make.h"
#include "policy/scored.h"

namespace weir::policy {

std::unique_ptr<Policy> make_msps(const PolicyInputs& /*inputs*/) {
  return std::make_unique<Scored<AncestorCost, Use::Yes, Use::No>>();
}

}  // namespace weir::policy
