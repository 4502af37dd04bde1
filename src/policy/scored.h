#pragma once

#include <limits>
#include <optional>

#include "policy/ratio.h"
#include "weir/policy.h"

namespace weir::policy {

// Scans the candidates in order for the lowest score. Ties go to the last; a score of zero ends the
// scan. `score(storage, best)` may return any value above `best` for a candidate that cannot win.
template <typename Score>
std::optional<Choice> lowest(const View& view, std::uint64_t& scored, Score&& score) {
  double best = std::numeric_limits<double>::infinity();
  std::optional<Choice> choice;
  for (StorageId candidate : view.slots) {
    if (candidate == kNoStorage) continue;
    ++scored;
    const double value = score(candidate, best);
    if (value <= best) {
      best = value;
      choice = Choice{candidate};
    }
    if (value == 0) break;
  }
  return choice;
}

enum class Use : bool { No, Yes };

// The family DTR's heuristics come from: cost, over size, over staleness; each can be left out.
// `Cost` says what bringing a storage back costs:
//   Nanos at_least(view, id)   a bound that is quick to have
//   Nanos operator()(view, id) the cost
//   void note(graph, id, change), kInterests, kCountsLineage
//   void settle(graph)         before the first question after a note
template <typename Cost, Use kSize, Use kStale>
class Scored final : public Policy {
 public:
  Scored() : Policy{Cost::kInterests} {}

  std::optional<Choice> choose(const View& view, Bytes /*need*/) override {
    cost_.settle(view.graph);
    return lowest(view, scored_, [&](StorageId id, double best) {
      const Wide denominator = denominator_of(view, view.graph[id]);
      const double bound = score(cost_.at_least(view, id), denominator);
      return bound > best ? bound : score(cost_(view, id), denominator);
    });
  }

  [[nodiscard]] bool counts_lineage() const override { return Cost::kCountsLineage; }

  void note(const Graph& graph, StorageId storage, Change change) override {
    cost_.note(graph, storage, change);
  }

 private:
  static Wide denominator_of(const View& view, const Storage& s) {
    Wide denominator = 1;
    if constexpr (kSize == Use::Yes) denominator *= s.size.n;
    if constexpr (kStale == Use::Yes) denominator *= (view.now - s.last_use).n;
    return denominator;
  }

  Cost cost_;
};

}  // namespace weir::policy
