#include "policy/backward_order.h"

#include <algorithm>
#include <utility>

namespace weir::policy {

void BackwardOrder::begin(const Graph& graph, const OpRecord& op) {
  const Phase before = std::exchange(phase_, op.phase);
  if (op.phase == Phase::Forward) {
    if (before != Phase::Forward) start_ = op.position;
    in_backward_ = false;
    references_.clear();
    frontier_ = end_ = op.position;
    return;
  }
  if (op.phase != Phase::Backward) return;
  in_backward_ = true;
  Nanos reached{-1};
  for (TensorId input : graph.inputs(op)) {
    const StorageId storage = graph[input].storage;
    note_read(graph, storage);
    if (ahead(graph, storage)) reached = std::max(reached, next_want(graph, storage));
  }
  if (reached.n >= 0) frontier_ = reached;
}

bool BackwardOrder::ahead(const Graph& graph, StorageId storage) const {
  return made_outside_backward(graph, storage) && made_at(graph, storage) <= frontier_;
}

void BackwardOrder::note_read(const Graph& graph, StorageId storage) {
  if (!made_outside_backward(graph, storage)) return;
  if (references_.size() <= index(storage)) references_.resize(graph.storages());
  std::uint32_t& before = references_[index(storage)];
  if (before == 0) before = graph[storage].references;
}

bool BackwardOrder::held_on(const Graph& graph, StorageId storage) const {
  if (index(storage) >= references_.size() || ahead(graph, storage)) return false;
  const std::uint32_t before = references_[index(storage)];
  return before != 0 && made_outside_backward(graph, storage) &&
         graph[storage].references >= before;
}

Nanos BackwardOrder::next_want(const Graph& graph, StorageId storage) const {
  Nanos at = made_at(graph, storage);
  for_each_forward_read(graph, storage, [&](const OpRecord& op, const Tensor& /*read*/) {
    if (op.position <= frontier_) at = std::max(at, op.position);
  });
  return at;
}

}  // namespace weir::policy
