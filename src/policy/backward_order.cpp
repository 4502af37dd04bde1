#include "policy/backward_order.h"

#include <algorithm>
#include <utility>

namespace weir::policy {

void BackwardOrder::begin(const Graph& graph, const OpRecord& op) {
  const Phase before = std::exchange(phase_, op.phase);
  if (op.phase == Phase::Forward) {
    if (before != Phase::Forward) start_ = op.position;
    in_backward_ = false;
    frontier_ = end_ = op.position;
    return;
  }
  if (op.phase != Phase::Backward) return;
  in_backward_ = true;
  Nanos reached{-1};
  for (TensorId input : graph.inputs(op)) {
    const StorageId storage = graph[input].storage;
    if (ahead(graph, storage)) reached = std::max(reached, next_want(graph, storage));
  }
  if (reached.n >= 0) frontier_ = reached;
}

bool BackwardOrder::ahead(const Graph& graph, StorageId storage) const {
  return made_outside_backward(graph, storage) && made_at(graph, storage) <= frontier_;
}

Nanos BackwardOrder::next_want(const Graph& graph, StorageId storage) const {
  Nanos at = made_at(graph, storage);
  for_each_forward_read(graph, storage, [&](const OpRecord& op, const Tensor& /*read*/) {
    if (op.position <= frontier_) at = std::max(at, op.position);
  });
  return at;
}

}  // namespace weir::policy
