#pragma once

#include <span>
#include <string_view>

#include "plan/answer.h"

namespace weir::plan {

struct DeviceAnswer;
struct Devices;

struct MethodEntry {
  std::string_view name;
  Answer (*plan)(const Problem& problem, Bytes budget, const MethodOptions& options);  // or none
  std::string_view about;
  bool begins_with_guess = false;  // uses MethodOptions::guesses
  bool copies = false;             // to the problem's tier, if it has one
  bool needs_tier = false;
  bool limits_runs = false;  // of each op to MethodOptions::intervals: so is its bound
  // Of a method for several devices (xengine.h), which has no other.
  DeviceAnswer (*plan_on_devices)(const Problem& problem, const Devices& devices,
                                  const MethodOptions& options) = nullptr;
};

// Every method there is. A budget below the floor is infeasible for all of them.
[[nodiscard]] std::span<const MethodEntry> methods();
// Throws BadInput, naming those that exist.
[[nodiscard]] const MethodEntry& find_method(std::string_view name);

}  // namespace weir::plan
