#include <cmath>

#include "policy/evicted_classes.h"
#include "policy/make.h"
#include "policy/scored.h"

namespace weir::policy {

namespace {

// MegEngine's DTR: the cost of the evicted inputs and outputs of the op that makes a storage, each
// counted with its class but at least with its own cost, per mebibyte and staleness. The storage's
// own cost does not count. MegEngine estimates costs from bytes and runs its clock at 1e8 of them a
// unit; here costs are measured, and a unit is 1e8 ns. Without addresses there is no free memory
// next to a storage to count as its size.
class MegEngine final : public Policy {
 public:
  MegEngine() : Policy{EvictedClasses::kInterests} {}

  [[nodiscard]] bool counts_lineage() const override { return true; }

  std::optional<Choice> choose(const View& view, Bytes /*need*/) override {
    return lowest(view, scored_, [&](StorageId id, double /*best*/) {
      const Storage& s = view.graph[id];
      if (s.size == Bytes{}) return std::numeric_limits<double>::infinity();
      const double mebibytes = static_cast<double>(s.size.n) / (1 << 20);
      const double staleness = static_cast<double>((view.now - s.last_use).n) / kUnit;
      return (neighbour_cost(view.graph, id) + kSmall) / (mebibytes * (staleness + kSmall));
    });
  }

  void note(const Graph& graph, StorageId storage, Change change) override {
    classes_.note(graph, storage, change);
  }

 private:
  static constexpr double kUnit = 1e8;
  static constexpr double kSmall = 1e-3;

  double neighbour_cost(const Graph& graph, StorageId id) {
    // Nothing would be run again for it: what it costs is its way through a tier.
    if (!graph[id].has_recipe()) return static_cast<double>(graph[id].cost.n);
    double total = 0;
    const auto add = [&](StorageId neighbour) {
      if (neighbour == kNoStorage || graph[neighbour].where() != Residency::Evicted) return;
      const Nanos sum = classes_.sum(classes_.class_of(neighbour));
      total += static_cast<double>(std::max(sum, graph[neighbour].cost).n);
    };
    const OpRecord& maker = graph[graph.recipe(id).front()];
    for (TensorId input : graph.inputs(maker)) add(graph[input].storage);
    for (std::uint32_t i = 0; i < maker.outputs; ++i)
      add(graph[TensorId{index(maker.first_output) + i}].storage);
    return total;
  }

  EvictedClasses classes_;
};

}  // namespace

std::unique_ptr<Policy> make_megengine(const PolicyInputs& /*inputs*/) {
  return std::make_unique<MegEngine>();
}

}  // namespace weir::policy
