#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weir/types.h"

namespace weir::base {

// "4096", "1500MB", "1.5GiB"; zero is a quantity too. Everything else throws BadInput.
Bytes parse_bytes(std::string_view text);

// For people: two decimals and the largest unit that fits, "1.50 GiB", "12.30 ms".
std::string format_bytes(Bytes bytes);
std::string format_nanos(Nanos time);

// A share of the largest memory a run would use without a budget.
struct PeakShare {
  double of_peak = 1.0;

  bool operator==(const PeakShare&) const = default;
};

// A budget as the user says it: bytes, or a share of a peak that is known only later.
struct BudgetSpec {
  std::variant<Bytes, PeakShare> amount;

  // A share becomes int(share * peak) in double arithmetic; less than one byte throws BadInput.
  [[nodiscard]] Bytes resolve(Bytes peak) const;

  bool operator==(const BudgetSpec&) const = default;
};

// "2GiB" or "0.5x". Zero and shares above 1000 throw BadInput.
BudgetSpec parse_budget(std::string_view text);

// Budgets and ranges of shares between commas: "0.5x,2GiB", "0.1:1.0:0.05" (first:last:step, the
// last one included; each point is the double nearest to its decimal text).
std::vector<BudgetSpec> parse_budget_list(std::string_view text);

// The shortest text that parse_budget() turns back into the same budget: "0.5x", "1536".
std::string format_budget(const BudgetSpec& budget);

}  // namespace weir::base
