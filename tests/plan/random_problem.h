#pragma once

#include <cstdint>

#include "plan/problem.h"
#include "weir/trace.h"

namespace weir::plan::test {

// How many seeds a test takes: in checked builds, where each takes ten times as long, the first
// third.
constexpr std::uint64_t seeds(std::uint64_t all) {
#ifdef WEIR_CHECK_FULL
  return all / 3;
#else
  return all;
#endif
}

// A computation graph of at most eight ops, each with one output, as Checkmate's are.
[[nodiscard]] Trace random_graph(std::uint64_t seed);
// Views and several outputs under DTR's rules, constants, kept results.
[[nodiscard]] Trace random_log(std::uint64_t seed);
// Training under Weir's rules: in-place changes, views, ops that cannot run again.
[[nodiscard]] Trace random_training(std::uint64_t seed);

// The rest of a problem: some ops have run, and some of what they made is still there.
[[nodiscard]] Problem rest_of(Problem problem, std::uint64_t seed);

// From the floor to the peak, a different one for each seed.
[[nodiscard]] Bytes budget_for(const Problem& problem, std::uint64_t seed);

// A small tier for it; links as fast as ops, or slower.
[[nodiscard]] Problem with_tier(Problem problem, std::uint64_t seed);

}  // namespace weir::plan::test
