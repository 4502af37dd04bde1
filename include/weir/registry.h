#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "weir/plans.h"
#include "weir/policy.h"
#include "weir/predictor.h"

namespace weir {

// What a policy may need from outside.
struct PolicyInputs {
  std::uint64_t seed = 0;
  const Predictor* future = nullptr;  // for oracles only
  bool background = false;            // may think beside the program, on a thread of its own
  std::int64_t reserve_one_in = 0;    // as the manager's Options have it
  Plans* plans = nullptr;             // made before, and those made now; outlive the policy
};

struct PolicyEntry {
  std::string_view name;
  std::unique_ptr<Policy> (*make)(const PolicyInputs&);
  std::string_view about;
  bool oracle = false;  // needs PolicyInputs::future
  bool draws = false;   // depends on PolicyInputs::seed
  bool plans = false;   // wants to know what ops take as scratch
};

// Every policy there is.
[[nodiscard]] std::span<const PolicyEntry> policies();
// Throws BadInput, naming those that exist.
[[nodiscard]] const PolicyEntry& find_policy(std::string_view name);

}  // namespace weir
