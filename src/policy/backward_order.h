#pragma once

#include <vector>

#include "weir/policy.h"

namespace weir::policy {

// When backward will want what forward left: it visits the ops of forward in reverse, and the
// backward of an op can want what the op read and what it made. So a storage is wanted first where
// its last reader in forward was, and not any more once backward has passed the op that made it.
//
// Places are positions in forward (OpRecord::position). Backward is at the frontier, which falls.
class BackwardOrder {
 public:
  // An op of the program begins.
  void begin(const Graph& graph, const OpRecord& op);

  [[nodiscard]] bool in_backward() const { return in_backward_; }
  // Where backward is; in forward, where the program is.
  [[nodiscard]] Nanos frontier() const { return frontier_; }
  // Where forward began, and how long it is as far as it is known.
  [[nodiscard]] Nanos start() const { return start_; }
  [[nodiscard]] Nanos length() const { return end_ - start_; }

  // Was it made before backward, and can backward still want it?
  [[nodiscard]] bool ahead(const Graph& graph, StorageId storage) const;
  // The next place, at or before the frontier, where backward can want what is ahead.
  [[nodiscard]] Nanos next_want(const Graph& graph, StorageId storage) const;
  // Has backward read what forward made, is past it, and was nothing let go of since? Then whoever
  // refers to it is not done with it.
  [[nodiscard]] bool held_on(const Graph& graph, StorageId storage) const;

 private:
  void note_read(const Graph& graph, StorageId storage);

  Phase phase_ = Phase::Forward;  // of the last op
  bool in_backward_ = false;      // it has begun, and no forward has since
  Nanos start_, end_, frontier_;
  std::vector<std::uint32_t> references_;  // by storage, when backward first read it
};

// Where it was made; the storage has a recipe.
inline Nanos made_at(const Graph& graph, StorageId storage) {
  return graph[graph.recipe(storage).front()].position;
}

inline bool made_outside_backward(const Graph& graph, StorageId storage) {
  return graph[storage].has_recipe() &&
         graph[graph.recipe(storage).front()].phase != Phase::Backward;
}

// Calls visit(op, tensor) for each time an op of forward that is in a recipe reads the storage, by
// which of its tensors.
template <typename Visit>
void for_each_forward_read(const Graph& graph, StorageId storage, Visit&& visit) {
  for (StorageId dependent : graph.dependents(storage)) {
    for (OpId id : graph.recipe(dependent)) {
      const OpRecord& op = graph[id];
      if (op.phase != Phase::Forward) continue;
      for (TensorId input : graph.inputs(op))
        if (graph[input].storage == storage) visit(op, graph[input]);
    }
  }
}

}  // namespace weir::policy
