#pragma once

#include <algorithm>
#include <vector>

#include "weir/policy.h"

namespace weir::policy {

// DTR's approximation of the evicted neighbourhood: evicted storages that touch are one class (a
// union-find set) with one sum of costs. Splitting is not possible, so a storage that comes back
// leaves its class's connections behind and only takes its cost out.
class EvictedClasses {
 public:
  using Class = std::uint32_t;
  static constexpr Changes kInterests = Change::Declared | Change::Restored | Change::Evicted;

  // Takes in one of the changes above.
  void note(const Graph& graph, StorageId storage, Change change);

  void declare(StorageId storage);
  // Calls merged(from, into) for each class that becomes part of the storage's own.
  template <typename Merged>
  void evict(const Graph& graph, StorageId storage, Merged&& merged);
  // Returns the class it leaves.
  Class restore(const Graph& graph, StorageId storage);

  // Every eviction adds a node: are there many more than storages?
  [[nodiscard]] bool crowded() const { return parent_.size() > 4 * class_.size() + kFewNodes; }
  // Numbers the classes that storages are in anew. Returns the new number of each, or kNone.
  std::vector<Class> compact();
  static constexpr Class kNone = UINT32_MAX;

  // The distinct classes among a storage's neighbours.
  const std::vector<Class>& next_to(const Graph& graph, StorageId storage);
  // The class of a storage that is away.
  Class class_of(StorageId storage) { return find(class_[index(storage)]); }
  [[nodiscard]] Nanos sum(Class root) const { return sums_[root]; }
  // Its own cost and the sums of the classes next to it.
  Nanos cost(const Graph& graph, StorageId storage);

 private:
  static constexpr std::size_t kFewNodes = 256;
  [[nodiscard]] static bool away(const Graph& graph, StorageId storage) {
    const Residency where = graph[storage].where();
    return where == Residency::Evicted || where == Residency::Pending;
  }
  Class find(Class node);
  Class add(StorageId storage, Nanos sum);

  std::vector<Class> class_;   // by storage: its node while it is away
  std::vector<Class> parent_;  // by node
  std::vector<Nanos> sums_;    // by node; valid at roots
  std::vector<Class> found_;   // what the last query found
};

template <typename Merged>
void EvictedClasses::evict(const Graph& graph, StorageId storage, Merged&& merged) {
  const Class own = add(storage, graph[storage].cost);
  const auto merge = [&](StorageId neighbour) {
    if (!away(graph, neighbour)) return;
    const Class other = class_of(neighbour);
    if (other == own) return;
    parent_[other] = own;
    sums_[own] += sums_[other];
    merged(other, own);
  };
  for (StorageId dep : graph.deps(storage)) merge(dep);
  for (StorageId dependent : graph.dependents(storage)) merge(dependent);
}

}  // namespace weir::policy
