// Copies beside ops, whatever a policy advises: the program reads what it should, inside its
// budget.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "policy/wrapper.h"
#include "trace/generate.h"
#include "trace/info.h"
#include "twin/real_run.h"

namespace weir::twin {
namespace {

// Wants anything copied, and has any candidate to spare that could go for nothing.
class Restless final : public policy::Wrapper {
 public:
  using Wrapper::Wrapper;

  void look_ahead(const View& view, Ahead& ahead) override {
    for (std::uint64_t i = rng_.below(4); i > 0; --i) ahead.save.push_back(any(view));
    for (std::uint64_t i = rng_.below(4); i > 0; --i) ahead.bring.push_back(any(view));
  }
  std::optional<Choice> spare(const View& view) override {
    for (StorageId storage : view.slots)
      if (storage != kNoStorage && rng_.chance(1, 3)) return Choice{storage, rng_.chance(1, 2)};
    return std::nullopt;
  }

 private:
  StorageId any(const View& view) {
    return StorageId{static_cast<std::uint32_t>(rng_.below(view.graph.storages()))};
  }

  base::Rng rng_{11};
};

std::unique_ptr<Policy> restless(std::unique_ptr<Policy> policy) {
  return std::make_unique<Restless>(std::move(policy));
}

RunOptions drawn(const Trace& trace, std::uint64_t seed) {
  base::Rng rng{seed};
  const Bytes peak = trace::liveness_peak(trace);
  RunOptions options{.budget = {peak.n * static_cast<std::int64_t>(40 + rng.below(60)) / 100}};
  options.restore = rng.chance(1, 2) ? RestoreOrder::Lean : RestoreOrder::DepthFirst;
  options.policy = rng.chance(1, 2) ? "lru" : "h_dtr_eq_indexed";
  options.reuse_ids = rng.chance(1, 2);
  options.recompute = rng.chance(3, 4);
  options.offload = true;
  options.wrap = restless;
  options.tier = {peak.n * static_cast<std::int64_t>(rng.below(5)) / 2};
  options.latency = {4};
  options.failing = rng.chance(1, 4) ? 5 : 0;
  options.most_replays = 20'000;
  return options;
}

TEST(CopiesAhead, ChangeNoBytesAndKeepTheBudget) {
  std::uint64_t copies = 0, finished = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = trace::training_step(seed, {.steps = 3, .ops = 24});
    const RunOptions options = drawn(trace, seed);
    RealRun run{trace, options};
    for (std::size_t event = 0; event < trace.events.size() && !run.stopped(); ++event)
      run.apply(event);
    EXPECT_TRUE(run.spoiled().empty());
    EXPECT_LE(run.manager().ledger().peak(), options.budget);
    run.manager().check();
    copies += run.copies_ahead();
    finished += run.stopped() ? 0u : 1u;
  }
  EXPECT_GT(copies, 4000u);
  EXPECT_GT(finished, 200u);
}

}  // namespace
}  // namespace weir::twin
