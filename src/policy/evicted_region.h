#pragma once

#include <vector>

#include "graph/marks.h"
#include "weir/policy.h"

namespace weir::policy {

// DTR's exact evicted neighbourhood, one side of it: the storages that are away (not resident) and
// can be reached from a resident one through storages that are away.
//
// Sums are searched when they are asked for and then remembered. Before the next choice the changes
// since the last one are looked at: a change of one storage concerns the resident storages that
// reach it. Where storages only went away, the old sum still is a bound from below; where one came
// back it says nothing. If there were many changes, it is quicker to forget everything.
class EvictedRegion {
 public:
  enum class Side : bool { Ancestors, Descendants };
  static constexpr Changes kInterests =
      Change::Declared | Change::Restored | Change::Evicted | Change::Grown | Change::Lost;

  explicit EvictedRegion(Side side) : side_{side} {}

  void note(StorageId storage, Change change);
  // Before the first question after a note.
  void settle(const Graph& graph);
  // A bound from below that needs no search.
  [[nodiscard]] Nanos at_least(StorageId storage) const;
  // The summed cost of the region next to a resident storage.
  Nanos cost(const Graph& graph, StorageId storage);

 private:
  enum class Trust : std::uint8_t { None, Bound, Exact };
  struct Known {
    Nanos sum;
    std::uint32_t round = 0;
    Trust trust = Trust::None;
  };

  template <typename Visit>
  void search(const Graph& graph, StorageId from, Side side, Visit&& visit);
  void trust_at_most(StorageId storage, Trust trust);

  struct Changed {
    StorageId storage;
    Change change;
  };
  static constexpr std::size_t kFewChanges = 32;

  Side side_;
  std::vector<Changed> changes_;  // since the last choice; not all of them if too many
  std::vector<Known> known_;      // by storage
  std::uint32_t round_ = 1;       // what was known in earlier rounds counts no more
  graph::Marks seen_;
  std::vector<StorageId> work_;
};

}  // namespace weir::policy
