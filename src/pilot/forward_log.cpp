#include "pilot/forward_log.h"

#include <algorithm>

namespace weir::pilot {

void ForwardLog::clear() {
  ops_.clear();
  reads_.clear();
  known_.clear();
  numbers_.clear();
}

std::uint32_t& ForwardLog::place_of(StorageId storage) {
  if (index(storage) >= numbers_.size()) numbers_.resize(index(storage) + 1, kNone);
  return numbers_[index(storage)];
}

std::uint32_t ForwardLog::add(const Graph& graph, StorageId storage, std::uint32_t maker) {
  known_.push_back({storage, graph[storage].root, graph[storage].size, maker});
  return place_of(storage) = static_cast<std::uint32_t>(known_.size() - 1);
}

void ForwardLog::begin(const Graph& graph, const OpRecord& op,
                       std::span<const std::uint32_t> mutated) {
  const auto number = static_cast<std::uint32_t>(ops_.size());
  ops_.push_back({.id = op.id,
                  .kind = op.kind,
                  .changes = !mutated.empty(),
                  .first_read = static_cast<std::uint32_t>(reads_.size()),
                  .reads = op.inputs});
  for (TensorId input : graph.inputs(op)) {
    const StorageId storage = graph[input].storage;
    const std::uint32_t known = number_of(storage);
    reads_.push_back({input, known != kNone ? known : add(graph, storage, kNone)});
  }
  for (std::uint32_t position : mutated) {
    Known& changed = known_[reads_[ops_.back().first_read + position].number];
    if (changed.maker != kNone) changed.maker = number;
  }
}

ForwardLog::Op* ForwardLog::find(OpId id) {
  const auto found =
      std::find_if(ops_.rbegin(), ops_.rend(), [&](const Op& op) { return op.id == id; });
  return found == ops_.rend() ? nullptr : &*found;
}

void ForwardLog::declare(const Graph& graph, const OpRecord& op) {
  Op* logged = find(op.id);
  if (logged == nullptr) return;
  logged->cost = op.cost;
  logged->first_made = static_cast<std::uint32_t>(known_.size());
  for (std::uint32_t i = 0; i < op.outputs; ++i) {
    const Tensor& output = graph[TensorId{index(op.first_output) + i}];
    if (!output.fresh) continue;
    add(graph, output.storage, static_cast<std::uint32_t>(logged - ops_.data()));
    ++logged->made;
  }
}

void ForwardLog::end(const OpRecord& op, Bytes scratch) {
  Op* logged = find(op.id);
  if (logged == nullptr) return;
  logged->scratch = scratch;
  logged->id = kNoOp;
}

void ForwardLog::forget(StorageId storage) {
  if (number_of(storage) != kNone) place_of(storage) = kNone;
}

}  // namespace weir::pilot
