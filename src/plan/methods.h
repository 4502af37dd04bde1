#pragma once

#include <span>
#include <string_view>

#include "plan/answer.h"

namespace weir::plan {

struct MethodEntry {
  std::string_view name;
  Answer (*plan)(const Problem& problem, Bytes budget, const MethodOptions& options);
  std::string_view about;
  bool begins_with_guess = false;  // uses MethodOptions::guesses
  bool copies = false;             // to the problem's tier, if it has one
};

// Every method there is. A budget below the floor is infeasible for all of them.
[[nodiscard]] std::span<const MethodEntry> methods();
// Throws BadInput, naming those that exist.
[[nodiscard]] const MethodEntry& find_method(std::string_view name);

}  // namespace weir::plan
