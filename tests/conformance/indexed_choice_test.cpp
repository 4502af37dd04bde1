// The indexed policies against the scans they stand for: at every choice of a replay the index's
// victim has at most twice the lowest score, and the replay costs as much to within one per cent.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "policy/evicted_classes.h"
#include "policy/ratio.h"
#include "sim/replay.h"
#include "trace/generate.h"
#include "trace/info.h"

namespace weir {
namespace {

// Passes everything on to the indexed policy and looks at each of its choices.
class Watched final : public Policy {
 public:
  Watched(std::unique_ptr<Policy> indexed, bool classes, std::uint64_t& choices)
      : Policy{static_cast<Changes>(~Changes{0})},
        indexed_{std::move(indexed)},
        classes_counted_{classes},
        choices_{choices} {}

  [[nodiscard]] bool counts_lineage() const override { return indexed_->counts_lineage(); }

  std::optional<Choice> choose(const View& view, Bytes need) override {
    const std::optional<Choice> choice = indexed_->choose(view, need);
    EXPECT_EQ(choice.has_value(), view.candidates != 0);
    if (!choice) return choice;
    double lowest = std::numeric_limits<double>::infinity();
    for (StorageId id : view.slots)
      if (id != kNoStorage) lowest = std::min(lowest, score(view, id));
    // A class that storages have left can have a sum below zero, and so can a score.
    EXPECT_LE(score(view, choice->victim), std::max(0.0, 2 * lowest)) << "choice " << choices_;
    ++choices_;
    return choice;
  }

  void note(const Graph& graph, StorageId storage, Change change) override {
    if (change == Change::Declared) classes_.declare(storage);
    if (change == Change::Evicted) classes_.evict(graph, storage, [](auto, auto) {});
    if (change == Change::Restored) classes_.restore(graph, storage);
    const bool ghost = graph[storage].where() == Residency::Evicted;
    if (change == Change::Died && ghost) classes_.restore(graph, storage);
    if (indexed_->wants(change)) indexed_->note(graph, storage, change);
  }

 private:
  double score(const View& view, StorageId id) {
    const Storage& s = view.graph[id];
    const Nanos cost = classes_counted_ ? classes_.cost(view.graph, id) : s.cost;
    return policy::score(cost, s.size, view.now - s.last_use);
  }

  std::unique_ptr<Policy> indexed_;
  bool classes_counted_;
  policy::EvictedClasses classes_;
  std::uint64_t& choices_;
};

std::uint64_t choices = 0;

PolicyEntry watched_local() {
  return {"watched",
          [](const PolicyInputs& inputs) -> std::unique_ptr<Policy> {
            return std::make_unique<Watched>(find_policy("h_dtr_local_indexed").make(inputs), false,
                                             choices);
          },
          ""};
}
PolicyEntry watched_eq() {
  return {"watched",
          [](const PolicyInputs& inputs) -> std::unique_ptr<Policy> {
            return std::make_unique<Watched>(find_policy("h_dtr_eq_indexed").make(inputs), true,
                                             choices);
          },
          ""};
}

struct Pair {
  const char* exact;
  PolicyEntry (*watched)();
};

class IndexedChoice : public testing::TestWithParam<Pair> {
 protected:
  // The logarithm of indexed over exact slowdown.
  double compare(const Trace& trace, double ratio, RestoreOrder order) {
    const auto peak = static_cast<double>(trace::liveness_peak(trace).n);
    const sim::ReplayOptions options{
        .budget = {static_cast<std::int64_t>(ratio * peak)}, .restore = order, .limit = 4.0};
    const auto exact = sim::replay(trace, find_policy(GetParam().exact), options);
    const auto indexed = sim::replay(trace, GetParam().watched(), options);
    if (exact.status != sim::Status::Ok || indexed.status != sim::Status::Ok) return 0;
    return std::log(indexed.slowdown() / exact.slowdown());
  }
};

TEST_P(IndexedChoice, IsNearlyTheBestOnRandomTraces) {
  choices = 0;
  double sum = 0;
  int replays = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Trace trace = trace::layered_dag(12 + static_cast<std::uint32_t>(seed % 20), 4, seed);
    for (RestoreOrder order : {RestoreOrder::DepthFirst, RestoreOrder::Lean}) {
      sum += compare(trace, 0.35 + 0.01 * static_cast<double>(seed), order);
      ++replays;
    }
  }
  EXPECT_GT(choices, 1000u);
  EXPECT_LE(std::abs(sum / replays), std::log(1.01))
      << "geometric mean " << std::exp(sum / replays);
}

TEST_P(IndexedChoice, IsNearlyTheBestOnATree) {
  choices = 0;
  const Trace trace = trace::binary_tree(9);
  for (double ratio : {0.4, 0.5, 0.7, 0.9})
    EXPECT_LE(std::abs(compare(trace, ratio, RestoreOrder::Lean)), std::log(1.01)) << ratio;
  EXPECT_GT(choices, 500u);
}

INSTANTIATE_TEST_SUITE_P(Policies, IndexedChoice,
                         testing::Values(Pair{"h_dtr_local", watched_local},
                                         Pair{"h_dtr_eq", watched_eq}),
                         [](const auto& pair) { return std::string{pair.param.exact}; });

}  // namespace
}  // namespace weir
