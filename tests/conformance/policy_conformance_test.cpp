// What any policy must do. Runs over the registry: a new policy is covered without an edit here.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "conformance/watched.h"
#include "trace/generate.h"
#include "twin/real_run.h"

namespace weir {

void PrintTo(const PolicyEntry& entry, std::ostream* out) { *out << entry.name; }

}  // namespace weir

namespace weir::conformance {
namespace {

using namespace literals;
using twin::RealRun;
using twin::RunOptions;
using twin::Snapshot;

constexpr std::uint64_t kTraces = 200;
constexpr std::uint64_t kMostReplays = 2000;

class NeverAgain final : public Predictor {
 public:
  [[nodiscard]] std::uint64_t next_use(StorageId /*storage*/) const override { return kNever; }
};

class PolicyConformance : public testing::TestWithParam<PolicyEntry> {
 protected:
  static Trace trace(std::uint64_t seed) {
    return seed % 2 == 0 ? trace::training_step(seed) : trace::random_log_trace(seed);
  }
  static Bytes peak_of(const Trace& trace) {
    RealRun run{trace, {.budget = 1_GiB, .deallocation = Deallocation::EagerEvict}};
    for (std::size_t event = 0; event < trace.events.size(); ++event) run.apply(event);
    return run.manager().ledger().peak();
  }
  // Every seed has another budget, deallocation rule and restore order.
  static RunOptions options(std::uint64_t seed, const Trace& trace) {
    base::Rng rng{seed};
    const Bytes peak = peak_of(trace);
    return {.budget = {peak.n * static_cast<std::int64_t>(40 + rng.below(60)) / 100},
            .deallocation = static_cast<Deallocation>(seed / 2 % 3),
            .restore = seed / 6 % 2 == 0 ? RestoreOrder::Lean : RestoreOrder::DepthFirst,
            .policy = GetParam().name,
            .seed = seed,
            .most_replays = kMostReplays,
            .wrap = Watched::wrap,
            .smallest = {static_cast<std::int64_t>(rng.below(3))},
            .recompute = !rng.chance(1, 8),
            .offload = seed / 12 % 2 != 0,
            .reuse_ids = seed / 12 % 2 != 0 && !GetParam().oracle,
            .tier = {static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(peak.n)))},
            .latency = {static_cast<std::int64_t>(rng.below(8))}};
  }
  std::unique_ptr<Policy> make() { return GetParam().make({.seed = 1, .future = &future_}); }

  NeverAgain future_;
};

TEST_P(PolicyConformance, ChoosesOnlyCandidatesAndKeepsTheBudgetAndTheBytes) {
  std::uint64_t evictions = 0, fetches = 0, finished = 0;
  for (std::uint64_t seed = 0; seed < kTraces; ++seed) {
    const Trace drawn = trace(seed);
    RealRun run{drawn, options(seed, drawn)};
    for (std::size_t event = 0; event < drawn.events.size() && !run.stopped(); ++event) {
      run.apply(event);
      run.manager().check();
      ASSERT_LE(run.manager().ledger().used(), run.manager().ledger().budget()) << "seed " << seed;
      ASSERT_TRUE(run.spoiled().empty()) << "seed " << seed << ", event " << event;
      ASSERT_FALSE(HasFailure()) << "seed " << seed << ", event " << event;
    }
    evictions += run.manager().counters().evictions;
    fetches += run.manager().counters().fetches;
    finished += !run.stopped();
  }
  EXPECT_GT(evictions, kTraces);
  EXPECT_GT(fetches, 0u);
  EXPECT_GT(finished, kTraces / 10);
}

TEST_P(PolicyConformance, DoesTheSameAgainForTheSameSeed) {
  for (std::uint64_t seed = 0; seed < kTraces / 10; ++seed) {
    const Trace drawn = trace(seed);
    const RunOptions chosen = options(seed, drawn);
    RealRun first{drawn, chosen}, second{drawn, chosen};
    for (std::size_t event = 0; event < drawn.events.size() && !first.stopped(); ++event) {
      first.apply(event);
      second.apply(event);
      ASSERT_EQ(difference(first.snapshot(), second.snapshot()), "") << "seed " << seed;
    }
    EXPECT_EQ(first.manager().counters().scored, second.manager().counters().scored);
  }
}

TEST_P(PolicyConformance, ChoosesNothingFromAnEmptyView) {
  const std::unique_ptr<Policy> policy = make();
  const Graph graph;
  EXPECT_FALSE(policy->choose({.graph = graph, .now = {}, .slots = {}}, 1_B));
}

TEST_P(PolicyConformance, ChoosesNothingFromGaps) {
  const std::unique_ptr<Policy> policy = make();
  const Graph graph;
  const std::vector<StorageId> gaps(3, kNoStorage);
  EXPECT_FALSE(policy->choose({.graph = graph, .now = {}, .slots = gaps}, 1_B));
}

TEST_P(PolicyConformance, GivesUpEveryCandidateOnceAndEnds) {
  class Still final : public Executor {
    [[nodiscard]] Nanos now() const override { return {50}; }
    void evict(StorageId) override {}
  } executor;
  const std::unique_ptr<Policy> policy = Watched::wrap(make());
  Manager manager{{.budget = 100_B}, *policy, executor};
  constexpr std::uint32_t kStorages = 20;
  for (std::uint32_t i = 0; i < kStorages; ++i) {
    Ticket ticket = manager.begin({});
    const Output output{.size = {5}};
    manager.declare(ticket, {&output, 1}, {i % 3});
    ASSERT_EQ(manager.next(ticket), nullptr);
    ticket.deliver(0, manager.allocate({5}));
    manager.end(std::move(ticket));
  }
  const Charge everything = manager.allocate(100_B);
  EXPECT_EQ(manager.counters().evictions, kStorages);
  for (std::uint32_t i = 0; i < kStorages; ++i)
    EXPECT_EQ(manager.graph()[StorageId{i}].where(), Residency::Evicted);
}

INSTANTIATE_TEST_SUITE_P(Registry, PolicyConformance, testing::ValuesIn(policies()),
                         [](const testing::TestParamInfo<PolicyEntry>& entry) {
                           return std::string{entry.param.name};
                         });

}  // namespace
}  // namespace weir::conformance
