#include "policy/evicted_classes.h"

#include <numeric>
#include <utility>

namespace weir::policy {

EvictedClasses::Class EvictedClasses::find(Class node) {
  while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
  return node;
}

EvictedClasses::Class EvictedClasses::add(StorageId storage, Nanos sum) {
  const auto node = static_cast<Class>(parent_.size());
  parent_.push_back(node);
  sums_.push_back(sum);
  return class_[index(storage)] = node;
}

std::vector<EvictedClasses::Class> EvictedClasses::compact() {
  std::vector<Class> renamed(parent_.size(), kNone);
  std::vector<Nanos> sums;
  for (Class& own : class_) {
    const Class root = find(own);
    if (renamed[root] == kNone) {
      renamed[root] = static_cast<Class>(sums.size());
      sums.push_back(sums_[root]);
    }
    own = renamed[root];
  }
  parent_.resize(sums.size());
  std::iota(parent_.begin(), parent_.end(), Class{0});
  sums_ = std::move(sums);
  return renamed;
}

void EvictedClasses::note(const Graph& graph, StorageId storage, Change change) {
  if (crowded()) compact();
  if (change == Change::Declared)
    declare(storage);
  else if (change == Change::Evicted)
    evict(graph, storage, [](Class, Class) {});
  else
    restore(graph, storage);
}

void EvictedClasses::declare(StorageId storage) {
  if (class_.size() <= index(storage)) class_.resize(index(storage) + 1);
  add(storage, {});
}

// The cost may have grown while it was away; DTR takes the grown one out.
EvictedClasses::Class EvictedClasses::restore(const Graph& graph, StorageId storage) {
  const Class left = class_of(storage);
  sums_[left] -= graph[storage].cost;
  return left;
}

const std::vector<EvictedClasses::Class>& EvictedClasses::next_to(const Graph& graph,
                                                                  StorageId storage) {
  found_.clear();
  const auto add_class = [&](StorageId neighbour) {
    if (!away(graph, neighbour)) return;
    const Class root = class_of(neighbour);
    if (std::ranges::find(found_, root) == found_.end()) found_.push_back(root);
  };
  for (StorageId dep : graph.deps(storage)) add_class(dep);
  for (StorageId dependent : graph.dependents(storage)) add_class(dependent);
  return found_;
}

Nanos EvictedClasses::cost(const Graph& graph, StorageId storage) {
  Nanos total = graph[storage].cost;
  for (Class root : next_to(graph, storage)) total += sums_[root];
  return total;
}

}  // namespace weir::policy
