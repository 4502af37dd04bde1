#pragma once

#include <memory>

#include "weir/registry.h"

namespace weir::policy {

std::unique_ptr<Policy> make_h_dtr(const PolicyInputs&);
std::unique_ptr<Policy> make_h_dtr_eq(const PolicyInputs&);
std::unique_ptr<Policy> make_h_dtr_local(const PolicyInputs&);
std::unique_ptr<Policy> make_h_dtr_eq_indexed(const PolicyInputs&);
std::unique_ptr<Policy> make_h_dtr_local_indexed(const PolicyInputs&);
std::unique_ptr<Policy> make_h_estar(const PolicyInputs&);
std::unique_ptr<Policy> make_msps(const PolicyInputs&);
std::unique_ptr<Policy> make_lru(const PolicyInputs&);
std::unique_ptr<Policy> make_size(const PolicyInputs&);
std::unique_ptr<Policy> make_random(const PolicyInputs&);
std::unique_ptr<Policy> make_belady(const PolicyInputs&);
std::unique_ptr<Policy> make_foresight(const PolicyInputs&);
std::unique_ptr<Policy> make_foresight_ranked(const PolicyInputs&);
std::unique_ptr<Policy> make_megengine(const PolicyInputs&);

// What of DTR's score is kept.
struct Ablation {
  enum class Cost : std::uint8_t { Neighbourhood, Classes, Local, None };
  Cost cost;
  bool size, staleness;
};
std::unique_ptr<Policy> make_ablation(Ablation kept, const PolicyInputs& inputs);

}  // namespace weir::policy
