#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "sim/parallel.h"
#include "sim/replay.h"

namespace weir::sim {

// Every combination is run.
struct SweepOptions {
  std::vector<base::BudgetSpec> budgets;
  std::vector<const PolicyEntry*> policies;
  std::vector<Deallocation> deallocations{Deallocation::EagerEvict};
  std::vector<RestoreOrder> restores{RestoreOrder::Lean};
  std::uint64_t first_seed = 0;
  std::uint32_t trials = 1;  // seeds of a policy that draws; the others run once
  std::optional<double> limit = 2.0;
  unsigned jobs = 1;
};

// What is replayed, and at which budget.
struct Case {
  std::size_t trace = 0;  // place in the list of traces
  const PolicyEntry* policy = nullptr;
  Deallocation deallocation = Deallocation::EagerEvict;
  RestoreOrder restore = RestoreOrder::Lean;

  bool operator==(const Case&) const = default;
};

// By trace, deallocation, restore order and policy, each in the order given.
[[nodiscard]] std::vector<Case> cases_of(std::size_t traces, const SweepOptions& options);

struct Cell {
  Case of;
  base::BudgetSpec budget;
  std::uint64_t seed = 0;
  ReplayResult result;
};

// The cells by case, budget and seed, each in the order given.
// They do not depend on `jobs`. Throws BadInput if a share of a trace's peak is no whole byte.
[[nodiscard]] std::vector<Cell> sweep(std::span<const Trace> traces, const SweepOptions& options,
                                      const Progress& progress = {});

// One budget of one case, over all its seeds. `cells` is never empty.
struct Trials {
  std::span<const Cell> cells;

  [[nodiscard]] std::size_t finished() const;
  // Of those that finished; they must not be none.
  [[nodiscard]] double mean_slowdown() const;
  // As tables show it: the mean slowdown, mixK/N if only K of N finish, O if none does and one is
  // out of budget, T if all thrash.
  [[nodiscard]] std::string shown() const;
};

// The cells of a sweep, as lists of trials.
[[nodiscard]] std::vector<Trials> trials_of(std::span<const Cell> cells);

// A larger budget should not do worse, but may: these fail although a smaller one works.
struct Holes {
  Case of;
  std::vector<base::BudgetSpec> budgets;  // ascending in bytes; no trial finishes
  base::BudgetSpec works;                 // the smallest at which every trial finishes
};

// The cases with holes, in the order of the cells.
[[nodiscard]] std::vector<Holes> holes(std::span<const Cell> cells);

}  // namespace weir::sim
