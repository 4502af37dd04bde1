// DTR's ablation: a cost, with or without size, with or without staleness; all sixteen.
#include "policy/costs.h"
#include "policy/make.h"
#include "policy/scored.h"

namespace weir::policy {

namespace {

template <typename Cost>
std::unique_ptr<Policy> make(Ablation kept) {
  if (kept.size && kept.staleness) return std::make_unique<Scored<Cost, Use::Yes, Use::Yes>>();
  if (kept.size) return std::make_unique<Scored<Cost, Use::Yes, Use::No>>();
  if (kept.staleness) return std::make_unique<Scored<Cost, Use::No, Use::Yes>>();
  return std::make_unique<Scored<Cost, Use::No, Use::No>>();
}

}  // namespace

std::unique_ptr<Policy> make_ablation(Ablation kept, const PolicyInputs& inputs) {
  switch (kept.cost) {
    case Ablation::Cost::Neighbourhood:
      return make<NeighbourhoodCost>(kept);
    case Ablation::Cost::Classes:
      return make<ClassCost>(kept);
    case Ablation::Cost::Local:
      return make<LocalCost>(kept);
    case Ablation::Cost::None:
      break;
  }
  // With nothing kept all candidates are equal, and one is drawn.
  return kept.size || kept.staleness ? make<NoCost>(kept) : make_random(inputs);
}

}  // namespace weir::policy
