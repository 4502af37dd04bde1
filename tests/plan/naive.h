#pragma once

#include <optional>

#include "plan/problem.h"

namespace weir::plan::test {

enum class Order {
  Staged,  // in each stage every op at most once, in the trace's order: what the MILP searches
  Any,     // ops run again whenever and as often as one likes
};

// The least cost by trying everything, state by state; nothing if the budget is too small. For
// problems of at most 20 values or so.
[[nodiscard]] std::optional<Nanos> naive_optimum(const Problem& problem, Bytes budget, Order order);

// The same in stages where no op runs more often than so; for at most 16 ops.
[[nodiscard]] std::optional<Nanos> naive_optimum_with_runs(const Problem& problem, Bytes budget,
                                                           std::uint32_t most_runs);

// The same with the problem's tier, whose copies are waited for; for at most 12 values or so.
// Staged also means: copies are forgotten only between two stages, after what goes there has gone.
[[nodiscard]] std::optional<Nanos> naive_optimum_with_tier(const Problem& problem, Bytes budget,
                                                           Order order);

// The same with copies beside ops, in any order; for problems of at most six values or so that have
// no constants, no views and nothing that changes in place.
[[nodiscard]] std::optional<Nanos> naive_optimum_beside_ops(const Problem& problem, Bytes budget);

}  // namespace weir::plan::test
