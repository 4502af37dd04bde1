#pragma once

#include <span>
#include <vector>

#include "weir/graph.h"

namespace weir::core {

// Storages in the order in which they were added. Adding and removing take constant time: a removal
// leaves a gap, and gaps are squeezed out when they are the majority. The last slot is never a gap.
// A storage is in one pool at most: its slot says where.
class Pool {
 public:
  void add(Graph& graph, StorageId storage);
  void remove(Graph& graph, StorageId storage);

  [[nodiscard]] std::span<const StorageId> slots() const { return slots_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] StorageId last() const { return slots_.back(); }

 private:
  void squeeze(Graph& graph);

  std::vector<StorageId> slots_;
  std::size_t size_ = 0;
};

}  // namespace weir::core
