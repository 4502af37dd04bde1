#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "weir/manager.h"
#include "weir/registry.h"
#include "weir/trace.h"

namespace weir::sim {

enum class Status : std::uint8_t { Ok, OutOfBudget, Thrash };
[[nodiscard]] std::string_view name(Status status);

struct ReplayOptions {
  Bytes budget;
  Deallocation deallocation = Deallocation::EagerEvict;
  RestoreOrder restore = RestoreOrder::Lean;
  std::uint64_t seed = 0;
  // Thrash: recomputing took more than (limit - 1) times the trace's own time.
  std::optional<double> limit = 2.0;
  Plans* plans = nullptr;  // for policies that plan: those made before, and those made now
  // Shown the state before each op, and once more at the end (with the number of ops).
  std::function<void(std::uint32_t op, const Graph& graph)> watch = {};
};

struct ReplayResult {
  Status status = Status::Ok;
  Nanos clock;      // at the end of the trace, or where it stopped
  Nanos base;       // the trace's own time
  Nanos recompute;  // time spent on running ops again
  Nanos pages;      // time spent on pages that had to be moved or written to anew
  Bytes peak;
  Bytes budget;
  Counters counters;
  // Where it stopped, unless Ok: in this op of the trace (none: a constant came in), and, if out of
  // budget, the bytes asked for and those that could not be given up.
  std::optional<std::uint32_t> stopped_in;
  Bytes need, held;
  // Of every step that ended: how long it took, and how long the trace's own ops.
  struct Step {
    Nanos took, base;
  };
  std::vector<Step> steps;

  [[nodiscard]] double slowdown() const {
    return base.n == 0 ? 1.0 : static_cast<double>(clock.n) / static_cast<double>(base.n);
  }
};

// Runs a trace through the manager on a virtual clock.
[[nodiscard]] ReplayResult replay(const Trace& trace, const PolicyEntry& policy,
                                  const ReplayOptions& options);

}  // namespace weir::sim
