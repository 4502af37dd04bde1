// Plans that say anything at all: they cost time, never bits or budget.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"
#include "pilot/plan_cache.h"
#include "steps.h"
#include "trace/generate.h"
#include "twin/real_run.h"

namespace weir::pilot {
namespace {

#ifdef WEIR_CHECK_FULL
constexpr std::uint64_t kSeeds = 200;
#else
constexpr std::uint64_t kSeeds = 1000;
#endif
constexpr Bytes kPlenty{std::int64_t{1} << 40};
constexpr Reach kTier{.link = {.write = {{}, 1}, .read = {{}, 1}}, .capacity = kPlenty};
constexpr std::uint64_t kMostReplays = 20'000;

// Visits what a plan is made of, as an archive does, and makes it a plan for other ops.
struct Redirect {
  std::vector<std::uint64_t> digests;

  void operator()(auto& ops, auto&... /*rest*/) { ops = digests; }
};

// And says anything about them: numbers in range, and some that are not.
class Garble {
 public:
  Garble(std::uint64_t seed, const StepLog& step)
      : rng_{seed}, digests_{step.digests()}, storages_{step.storages()} {}

  void operator()(std::vector<std::uint64_t>& digests, Nanos& added, auto&... rest) {
    digests = digests_;
    added = {static_cast<std::int64_t>(rng_.below(1000))};
    (garble(rest), ...);
  }
  // Rows: where each ends, and all items. In pairs, so that each stay has an end.
  void operator()(std::vector<std::uint32_t>& ends, std::vector<std::uint32_t>& items) {
    const std::size_t most = std::max(storages_, digests_.size());
    ends.assign(rng_.below(most + 2), 0);
    items.clear();
    for (std::uint32_t& end : ends) {
      for (std::uint64_t i = rng_.below(3); i > 0; --i) {
        items.push_back(number(most));
        items.push_back(rng_.chance(1, 2) ? items.back() + number(8) : number(most));
      }
      end = static_cast<std::uint32_t>(items.size());
    }
  }

 private:
  void garble(auto& rows) { std::remove_reference_t<decltype(rows)>::fields(*this, rows); }
  void garble(Bytes& reserve) { reserve = {static_cast<std::int64_t>(number(1000))}; }
  void garble(std::vector<std::uint32_t>& numbers) {
    numbers.resize(rng_.below(8));
    for (std::uint32_t& each : numbers) each = number(storages_);
  }
  void garble(std::vector<StorageId>& carried) {
    carried.resize(rng_.below(2 * storages_));
    for (StorageId& each : carried) each = StorageId{number(2 * storages_)};
  }
  std::uint32_t number(std::size_t most) {
    return rng_.chance(1, 16) ? UINT32_MAX : static_cast<std::uint32_t>(rng_.below(most + 1));
  }

  base::Rng rng_;
  std::vector<std::uint64_t> digests_;
  std::size_t storages_;
};

struct Ended {
  twin::Snapshot state;
  Bytes peak;
  std::size_t spoiled = 0;
};

Ended run(const Trace& trace, const twin::RunOptions& options) {
  twin::RealRun run{trace, options};
  for (std::size_t event = 0; event < trace.events.size() && !run.stopped(); ++event)
    run.apply(event);
  return {run.snapshot(), run.manager().ledger().peak(), run.spoiled().size()};
}

// A trace of steps that all differ, and how to run it.
struct Drawn {
  explicit Drawn(std::uint64_t seed) : trace{trace::training_step(seed, {.steps = 4, .ops = 24})} {
    base::Rng rng{seed};
    options.policy = "planned";
    options.restore = rng.chance(3, 4) ? RestoreOrder::Lean : RestoreOrder::DepthFirst;
    options.reuse_ids = rng.chance(1, 2);
    options.offload = rng.chance(1, 2);
    options.most_replays = kMostReplays;
    options.budget = kPlenty;
    options.wrap = logged;
    const Bytes peak = run(trace, options).peak;
    options.wrap = nullptr;
    steps = logged_last();
    options.tier = peak;
    options.latency = {4};
    options.budget = {peak.n * static_cast<std::int64_t>(60 + rng.below(36)) / 100};
  }

  Trace trace;
  twin::RunOptions options = {};
  std::vector<StepLog> steps = {};
};

// Some plans of steps, whatever they are for.
std::vector<Guide> some_guides() {
  std::vector<Guide> guides;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Drawn drawn{seed};
    for (const StepLog& step : drawn.steps)
      if (std::optional<Guide> guide =
              Guide::make(step, {.budget = drawn.options.budget, .tier = kTier}))
        guides.push_back(std::move(*guide));
  }
  return guides;
}

// For every step one that `spoil` made of another's.
template <typename Spoil>
Plans wrong_plans(const Drawn& drawn, const std::vector<Guide>& guides, std::uint64_t seed,
                  const Spoil& spoil) {
  Plans plans;
  base::Rng rng{seed};
  for (const StepLog& step : drawn.steps) {
    Guide guide = guides[rng.below(guides.size())];
    spoil(guide, step, rng.below(UINT64_MAX));
    plans.cache().add({step.digest(), drawn.options.budget,
                       std::make_shared<const Guide>(std::move(guide)), kMostNanos});
  }
  return plans;
}

template <typename Spoil>
void expect_only_time(const Spoil& spoil) {
  const std::vector<Guide> guides = some_guides();
  ASSERT_GT(guides.size(), 20u);
  std::size_t followed = 0, ended = 0, ran_out = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Drawn drawn{seed};
    const Ended without = run(drawn.trace, drawn.options);
    Plans plans = wrong_plans(drawn, guides, seed, spoil);
    drawn.options.plans = &plans;
    const Ended with = run(drawn.trace, drawn.options);
    EXPECT_EQ(with.spoiled, 0u) << "seed " << seed;
    EXPECT_LE(with.peak, drawn.options.budget) << "seed " << seed;
    if (without.state.status == "ok" && with.state.status != "ok") {
      EXPECT_FALSE(drawn.options.offload) << "seed " << seed;
      ++ran_out;
    }
    if (with.state.clock != without.state.clock) ++followed;
    if (with.state.status == "ok") ++ended;
  }
  EXPECT_GT(followed, kSeeds / 4);
  EXPECT_GT(ended, kSeeds / 4);
  // Without a tier what goes next can decide whether there is a way on, near the floor.
  EXPECT_LT(ran_out, kSeeds / 20);
}

TEST(WrongPlans, OfOtherStepsCostTimeOnly) {
  expect_only_time([](Guide& guide, const StepLog& step, std::uint64_t /*seed*/) {
    Redirect redirect{step.digests()};
    Guide::fields(redirect, guide);
  });
}

TEST(WrongPlans, OfNoSenseCostTimeOnly) {
  expect_only_time([](Guide& guide, const StepLog& step, std::uint64_t seed) {
    Garble garble{seed, step};
    Guide::fields(garble, guide);
  });
}

}  // namespace
}  // namespace weir::pilot
