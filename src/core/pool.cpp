#include "core/pool.h"

#include "base/check.h"

namespace weir::core {

namespace {
constexpr std::uint32_t kNowhere = UINT32_MAX;
constexpr std::size_t kFewGaps = 32;
}  // namespace

void Pool::add(Graph& graph, StorageId storage) {
  WEIR_CHECK(graph[storage].slot == kNowhere, storage);
  graph[storage].slot = static_cast<std::uint32_t>(slots_.size());
  slots_.push_back(storage);
  ++size_;
}

void Pool::remove(Graph& graph, StorageId storage) {
  std::uint32_t& slot = graph[storage].slot;
  WEIR_CHECK(slot < slots_.size() && slots_[slot] == storage, storage, slot);
  slots_[slot] = kNoStorage;
  slot = kNowhere;
  --size_;
  while (!slots_.empty() && slots_.back() == kNoStorage) slots_.pop_back();
  if (slots_.size() > 2 * size_ + kFewGaps) squeeze(graph);
}

void Pool::squeeze(Graph& graph) {
  std::uint32_t kept = 0;
  for (StorageId storage : slots_) {
    if (storage == kNoStorage) continue;
    graph[storage].slot = kept;
    slots_[kept++] = storage;
  }
  slots_.resize(kept);
}

}  // namespace weir::core
