#include "policy/costs.h"
#include "policy/make.h"
#include "policy/scored.h"

namespace weir::policy {

std::unique_ptr<Policy> make_h_dtr(const PolicyInputs& /*inputs*/) {
  return std::make_unique<Scored<NeighbourhoodCost, Use::Yes, Use::Yes>>();
}

}  // namespace weir::policy
