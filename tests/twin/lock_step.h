#pragma once

#include <cstdint>
#include <string>

#include "twin/naive_manager.h"
#include "twin/real_run.h"

namespace weir::twin {

// What every run of a kind has in common; all else is drawn by seed.
struct Kind {
  ViewRule views;
  RestoreOrder restore;
};

// One run: everything that makes it what it is.
struct Case {
  std::uint64_t seed = 0;
  Kind kind = {};
  std::uint32_t ops = 0, steps = 0;  // of the generated trace
  Trace trace = {};
  RunOptions options = {};
};

[[nodiscard]] Case draw(std::uint64_t seed, Kind kind);

// Runs the manager and its naive twin side by side and compares them after every event. Returns an
// empty text if they agree; otherwise what to do about it.
[[nodiscard]] std::string lock_step(const Case& drawn, Coverage& coverage);

// The same for a seed; a disagreement is looked for again in shorter traces of the same seed.
[[nodiscard]] std::string compare(std::uint64_t seed, Kind kind, Coverage& coverage);

}  // namespace weir::twin
