#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/replay.h"
#include "sim/sweep.h"

namespace weir::sim {

// No budget below this can do, whatever the policy: the constants in use while an op runs, the
// results kept so far, and what the op reads and makes beside them must fit at once.
[[nodiscard]] Bytes floor_of(const Trace& trace);

// The budgets tried, ascending: the floor, then the multiples of step * peak above it, up to twice
// the peak (or the floor, if that is higher).
[[nodiscard]] std::vector<Bytes> budgets_from_floor(Bytes floor, Bytes peak, double step);

// The run with the smallest of these budgets (ascending) that finishes, or nothing. All smaller
// ones are known to fail; larger ones may fail too. `options.budget` is not read.
[[nodiscard]] std::optional<ReplayResult> smallest_that_finishes(const Trace& trace,
                                                                 const PolicyEntry& policy,
                                                                 const ReplayOptions& options,
                                                                 std::span<const Bytes> budgets);

struct Smallest {
  Case of;
  std::optional<ReplayResult> run;
};

// For each case of the options, in the order of a sweep: budgets_from_floor() with this step. The
// budgets and trials of the options are not read.
[[nodiscard]] std::vector<Smallest> smallest_budgets(std::span<const Trace> traces,
                                                     const SweepOptions& options, double step,
                                                     const Progress& progress = {});

}  // namespace weir::sim
