#include "policy/costs.h"
#include "policy/make.h"
#include "policy/scored.h"

namespace weir::policy {

std::unique_ptr<Policy> make_size(const PolicyInputs& /*inputs*/) {
  return std::make_unique<Scored<NoCost, Use::Yes, Use::No>>();
}

}  // namespace weir::policy
