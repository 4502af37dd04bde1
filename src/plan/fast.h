#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/stays.h"

namespace weir::plan {

struct FastOptions {
  // How long to search, in about nanoseconds, but not by the clock: the same problem has the same
  // schedule on every machine. Until one is found that fits, up to four times as long. With a tier,
  // half as long again; where something is relaxed, up to a fifth longer.
  std::int64_t work = 500'000'000;
};

// Drops what costs least by the bytes freed where they lack, by several tastes, or first what a
// relaxation has away, then betters what came of each, and the best by trying out. Nothing if no
// schedule was found that fits.
//
// If the problem has a tier, things also go there and come back by copies beside ops. That costs no
// more than without, which is planned first and bettered. All that was decided is in the moves of
// Stays::plan: where the copy of a storage begins (Offload), where its bytes go (Evict), where the
// copy back begins (Prefetch), each between the first runs of two ops.
[[nodiscard]] std::optional<Stays> plan_fast(const Problem& problem, Bytes budget,
                                             const FastOptions& options = {});

// Plans of one problem for many budgets: what was found for one is an answer for all above it, so a
// larger budget costs no more than any smaller one that was asked for before.
class Frontier {
 public:
  explicit Frontier(const Problem& problem, FastOptions options = {})
      : problem_{&problem}, options_{options} {}

  // Null if nothing was found. Valid until the next call.
  [[nodiscard]] const Plan* plan(Bytes budget);

 private:
  const Problem* problem_;
  FastOptions options_;
  std::vector<Plan> plans_;
};

}  // namespace weir::plan
