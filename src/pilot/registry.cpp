#include "weir/registry.h"

#include <string>

#include "pilot/foresight.h"
#include "pilot/planned.h"
#include "policy/make.h"
#include "weir/errors.h"

namespace weir {

namespace {

using namespace policy;

template <Ablation::Cost kCost, bool kSize, bool kStaleness>
std::unique_ptr<Policy> ablated(const PolicyInputs& inputs) {
  return make_ablation({.cost = kCost, .size = kSize, .staleness = kStaleness}, inputs);
}
constexpr auto kE = Ablation::Cost::Neighbourhood;
constexpr auto kEq = Ablation::Cost::Classes;
constexpr auto kLocal = Ablation::Cost::Local;
constexpr auto kNone = Ablation::Cost::None;

std::unique_ptr<Policy> make_planned(const PolicyInputs& inputs) {
  return pilot::make_planned(make_h_dtr_eq_indexed(inputs), inputs);
}

std::unique_ptr<Policy> make_foresight_with_plans(const PolicyInputs& inputs) {
  return pilot::make_foresight(make_foresight(inputs));
}

constexpr PolicyEntry kPolicies[] = {
    {"h_dtr", make_h_dtr, "cost of the evicted neighbourhood per byte and staleness (DTR)"},
    {"h_dtr_eq", make_h_dtr_eq, "the same with union-find classes as the neighbourhood (DTR)"},
    {"h_dtr_local", make_h_dtr_local, "own cost per byte and staleness (DTR)"},
    {"h_dtr_eq_indexed", make_h_dtr_eq_indexed, "nearly h_dtr_eq, found without a scan"},
    {"h_dtr_local_indexed", make_h_dtr_local_indexed, "nearly h_dtr_local, found without a scan"},
    {"h_estar", make_h_estar, "cost of the evicted neighbourhood per byte (DTR's theory)"},
    {"msps", make_msps, "cost of own and evicted ancestors per byte (Capuchin)"},
    {"lru", make_lru, "the storage used longest ago"},
    {"size", make_size, "the largest storage (GreedyRemat)"},
    {"random", make_random, "any candidate, by seed", false, true},
    {"megengine", make_megengine,
     "evicted neighbours of its op per byte and staleness (MegEngine)"},
    {"foresight", make_foresight_with_plans, "plans the rest of the step; else foresight_online",
     false, false, true},
    {"foresight_online", make_foresight, "least cost per byte when backward comes to want it"},
    {"foresight_ranked", make_foresight_ranked,
     "nearly foresight_online, several choices at a time"},
    {"planned", make_planned, "plans a step and follows the plan when it comes again", false, false,
     true},
    {"belady", make_belady, "the storage used again last; looks into the trace", true},
    {"ab_e_size_stale", ablated<kE, true, true>, "ablation: neighbourhood cost, size, staleness"},
    {"ab_e_size", ablated<kE, true, false>, "ablation: neighbourhood cost, size"},
    {"ab_e_stale", ablated<kE, false, true>, "ablation: neighbourhood cost, staleness"},
    {"ab_e", ablated<kE, false, false>, "ablation: neighbourhood cost"},
    {"ab_eq_size_stale", ablated<kEq, true, true>, "ablation: class cost, size, staleness"},
    {"ab_eq_size", ablated<kEq, true, false>, "ablation: class cost, size"},
    {"ab_eq_stale", ablated<kEq, false, true>, "ablation: class cost, staleness"},
    {"ab_eq", ablated<kEq, false, false>, "ablation: class cost"},
    {"ab_local_size_stale", ablated<kLocal, true, true>, "ablation: own cost, size, staleness"},
    {"ab_local_size", ablated<kLocal, true, false>, "ablation: own cost, size"},
    {"ab_local_stale", ablated<kLocal, false, true>, "ablation: own cost, staleness"},
    {"ab_local", ablated<kLocal, false, false>, "ablation: own cost"},
    {"ab_none_size_stale", ablated<kNone, true, true>, "ablation: no cost, size, staleness"},
    {"ab_none_size", ablated<kNone, true, false>, "ablation: no cost, size"},
    {"ab_none_stale", ablated<kNone, false, true>, "ablation: no cost, staleness"},
    {"ab_none", ablated<kNone, false, false>, "ablation: nothing, so at random", false, true},
};

}  // namespace

std::span<const PolicyEntry> policies() { return kPolicies; }

const PolicyEntry& find_policy(std::string_view name) {
  std::string known;
  for (const PolicyEntry& entry : kPolicies) {
    if (entry.name == name) return entry;
    known += known.empty() ? "" : ", ";
    known += entry.name;
  }
  throw BadInput{"unknown policy '" + std::string{name} + "'; there are: " + known};
}

}  // namespace weir
