#pragma once

#include <limits>

#include "policy/evicted_classes.h"
#include "policy/evicted_region.h"
#include "weir/policy.h"

// What it costs to bring a storage back, as the policies of the DTR family see it.
namespace weir::policy {

// Its own recipe.
struct LocalCost {
  static constexpr Changes kInterests = 0;
  static constexpr bool kCountsLineage = false;
  Nanos at_least(const View& view, StorageId id) const { return view.graph[id].cost; }
  Nanos operator()(const View& view, StorageId id) const { return view.graph[id].cost; }
  void note(const Graph& /*graph*/, StorageId /*storage*/, Change /*change*/) {}
  void settle(const Graph& /*graph*/) {}
};

// The same for all.
struct NoCost {
  static constexpr Changes kInterests = 0;
  static constexpr bool kCountsLineage = false;
  Nanos at_least(const View& /*view*/, StorageId /*id*/) const { return {1}; }
  Nanos operator()(const View& /*view*/, StorageId /*id*/) const { return {1}; }
  void note(const Graph& /*graph*/, StorageId /*storage*/, Change /*change*/) {}
  void settle(const Graph& /*graph*/) {}
};

// Its own recipe, that of every evicted storage it would have to be made from, and of every evicted
// storage that would have to be made from it.
class NeighbourhoodCost {
 public:
  static constexpr Changes kInterests = EvictedRegion::kInterests;
  static constexpr bool kCountsLineage = true;
  Nanos at_least(const View& view, StorageId id) const {
    return view.graph[id].cost + ancestors_.at_least(id) + descendants_.at_least(id);
  }
  Nanos operator()(const View& view, StorageId id) {
    return view.graph[id].cost + ancestors_.cost(view.graph, id) +
           descendants_.cost(view.graph, id);
  }
  void note(const Graph& /*graph*/, StorageId storage, Change change) {
    ancestors_.note(storage, change);
    descendants_.note(storage, change);
  }
  void settle(const Graph& graph) {
    ancestors_.settle(graph);
    descendants_.settle(graph);
  }

 private:
  EvictedRegion ancestors_{EvictedRegion::Side::Ancestors};
  EvictedRegion descendants_{EvictedRegion::Side::Descendants};
};

// Its own recipe and that of every evicted storage it would have to be made from.
class AncestorCost {
 public:
  static constexpr Changes kInterests = EvictedRegion::kInterests;
  static constexpr bool kCountsLineage = true;
  Nanos at_least(const View& view, StorageId id) const {
    return view.graph[id].cost + ancestors_.at_least(id);
  }
  Nanos operator()(const View& view, StorageId id) {
    return view.graph[id].cost + ancestors_.cost(view.graph, id);
  }
  void note(const Graph& /*graph*/, StorageId storage, Change change) {
    ancestors_.note(storage, change);
  }
  void settle(const Graph& graph) { ancestors_.settle(graph); }

 private:
  EvictedRegion ancestors_{EvictedRegion::Side::Ancestors};
};

// Its own recipe and the sums of all classes of evicted storages next to it.
class ClassCost {
 public:
  static constexpr Changes kInterests = EvictedClasses::kInterests;
  static constexpr bool kCountsLineage = true;
  // A sum can fall below zero: what comes back takes out more than it brought if it has grown.
  Nanos at_least(const View& /*view*/, StorageId /*id*/) const {
    return {std::numeric_limits<std::int64_t>::min()};
  }
  Nanos operator()(const View& view, StorageId id) { return classes_.cost(view.graph, id); }
  void note(const Graph& graph, StorageId storage, Change change) {
    classes_.note(graph, storage, change);
  }
  void settle(const Graph& /*graph*/) {}

 private:
  EvictedClasses classes_;
};

}  // namespace weir::policy
