#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "plan/problem.h"
#include "weir/manager.h"
#include "weir/registry.h"

// What users write on the command line, as values. Whatever is wrong throws BadInput with one line
// that names the option, what it was given, and what would do.
namespace weir::app {

[[nodiscard]] std::string_view name(RestoreOrder order);
[[nodiscard]] std::string_view name(Deallocation deallocation);
[[nodiscard]] RestoreOrder restore_order(std::string_view text);
[[nodiscard]] Deallocation deallocation(std::string_view text);

// Names between commas; none of them twice.
[[nodiscard]] std::vector<RestoreOrder> restore_orders(std::string_view text);
[[nodiscard]] std::vector<Deallocation> deallocations(std::string_view text);
[[nodiscard]] std::vector<const PolicyEntry*> policies_in(std::string_view text);  // or "all"
[[nodiscard]] std::vector<base::BudgetSpec> budgets_in(std::string_view text);

// "2.5" or "none".
[[nodiscard]] std::optional<double> limit_in(std::string_view text);
// A share of the peak, above 0 and at most 1.
[[nodiscard]] double step_in(std::string_view text);
[[nodiscard]] std::uint64_t seed_in(std::string_view text);
[[nodiscard]] std::uint32_t trials_in(std::string_view text);
// "2GiB,write=2GB/s,read=1GB/s": the capacity and what the link carries in a second.
[[nodiscard]] plan::TierSpec tier_in(std::string_view text);
// A number, or "all": one for each processor.
[[nodiscard]] unsigned jobs_in(std::string_view text);

}  // namespace weir::app
