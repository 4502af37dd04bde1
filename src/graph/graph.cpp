#include "weir/graph.h"

#include <algorithm>

#include "base/check.h"

namespace weir {

namespace {
constexpr std::uint32_t kEnd = UINT32_MAX;
}

bool may_become(Residency from, Residency to) {
  switch (from) {
    case Residency::Pending:
      return to == Residency::Resident || to == Residency::Dead;
    case Residency::Resident:
      return to == Residency::Evicted || to == Residency::Offloaded || to == Residency::Dead;
    case Residency::Evicted:
    case Residency::Offloaded:
      return to == Residency::Resident || to == Residency::Dead;
    case Residency::Dead:
      return false;
  }
  return false;
}

void Storage::move_to(Residency next) {
  WEIR_CHECK(may_become(where_, next), where_, next);
  where_ = next;  // the only assignment to where_ in the project
}

StorageId Graph::add_storage(Bytes size) {
  StorageId id{static_cast<std::uint32_t>(storages_.size())};
  if (free_storages_.empty()) {
    storages_.emplace_back();
  } else {
    id = free_storages_.back();
    free_storages_.pop_back();
    (*this)[id] = {};
  }
  (*this)[id].size = size;
  return id;
}

OpId Graph::add_op(std::uint64_t tag, bool pure, std::span<const TensorId> inputs,
                   const FirstRun& first_run) {
  OpId id{static_cast<std::uint32_t>(ops_.size())};
  if (free_ops_.empty()) {
    ops_.emplace_back();
  } else {
    id = free_ops_.back();
    free_ops_.pop_back();
  }
  const auto count = static_cast<std::uint32_t>(inputs.size());
  std::uint32_t first = free_inputs_.take(count);
  if (first == kEnd) {
    first = static_cast<std::uint32_t>(inputs_.size());
    inputs_.resize(first + count);
    versions_.resize(first + count);
  }
  ops_[index(id)] = {.id = id,
                     .tag = tag,
                     .pure = pure,
                     .step = first_run.step,
                     .phase = first_run.phase,
                     .position = first_run.position,
                     .kind = first_run.kind,
                     .first_input = first,
                     .inputs = count,
                     .first_output = TensorId{static_cast<std::uint32_t>(tensors_.size())},
                     .holders = 1};
  for (std::uint32_t i = 0; i < count; ++i) {
    const StorageId storage = (*this)[inputs[i]].storage;
    WEIR_CHECK(storage != kNoStorage, inputs[i]);
    inputs_[first + i] = inputs[i];
    versions_[first + i] = (*this)[storage].version;
  }
  return id;
}

void Graph::begin_outputs(OpId op, std::uint32_t count) {
  std::uint32_t first = free_tensors_.take(count);
  if (first == kEnd) {
    first = static_cast<std::uint32_t>(tensors_.size());
    tensors_.resize(first + count);
  }
  ops_[index(op)].first_output = TensorId{first};
}

TensorId Graph::add_output(OpId op, StorageId storage, bool fresh) {
  OpRecord& record = ops_[index(op)];
  Storage& s = (*this)[storage];
  const TensorId id{index(record.first_output) + record.outputs++};
  WEIR_CHECK(index(id) < tensors_.size(), op, id);
  ++record.living;
  if (fresh) s.root = id;
  if (fresh) record.makes += s.size;
  (*this)[id] = {.storage = storage, .op = op, .fresh = fresh, .next = s.first_tensor_};
  s.first_tensor_ = index(id);
  return id;
}

bool Graph::drop(OpId op) {
  OpRecord& record = ops_[index(op)];
  WEIR_CHECK(record.holders > 0, op);
  if (--record.holders != 0) return false;
  if (record.living == 0) free_op(op);
  return true;
}

void Graph::free_op(OpId op) {
  if (!reuse_ids_) return;
  const OpRecord& record = ops_[index(op)];
  free_inputs_.give(record.first_input, record.inputs);
  free_tensors_.give(index(record.first_output), record.outputs);
  free_ops_.push_back(op);
}

void Graph::bury(StorageId storage) {
  const Storage& s = (*this)[storage];
  WEIR_CHECK(s.where() == Residency::Dead && !s.has_recipe(), storage);
  WEIR_CHECK(s.first_dependent_ == kEnd, storage);
  for (std::uint32_t at = s.first_tensor_; at != kEnd;) {
    Tensor& tensor = tensors_[at];
    at = tensor.next;
    tensor.storage = kNoStorage;
    OpRecord& record = ops_[index(tensor.op)];
    if (--record.living == 0 && record.holders == 0) free_op(record.id);
  }
  free_storages_.push_back(storage);
}

// The first entry is in the storage itself; from the second on they are in recipes_, in places that
// double when they are full.
void Graph::make_room(Storage& s) {
  const std::uint32_t room = std::uint32_t{1} << s.recipe_room_;
  if (s.recipe_length_ < room) return;
  std::uint32_t moved = free_recipes_.take(2 * room);
  if (moved == kEnd) {
    moved = static_cast<std::uint32_t>(recipes_.size());
    recipes_.resize(moved + 2 * room);
  }
  if (s.recipe_room_ == 0) {
    recipes_[moved] = s.recipe_;
  } else {
    std::copy_n(recipes_.begin() + index(s.recipe_), room, recipes_.begin() + moved);
    free_recipes_.give(index(s.recipe_), room);
  }
  s.recipe_ = OpId{moved};
  ++s.recipe_room_;
}

void Graph::extend_recipe(StorageId storage, OpId op) {
  Storage& s = (*this)[storage];
  if (s.recipe_length_ != 0 && recipe(storage).back() == op) return;
  make_room(s);
  if (s.recipe_room_ == 0)
    s.recipe_ = op;
  else
    recipes_[index(s.recipe_) + s.recipe_length_] = op;
  ++s.recipe_length_;
  hold(op);
  s.cost += (*this)[op].cost;
  for (TensorId input : inputs((*this)[op])) {
    const StorageId dep = (*this)[input].storage;
    if (dep != storage) add_edge(dep, storage);
  }
}

void Graph::forget_recipe(StorageId storage) {
  Storage& s = (*this)[storage];
  if (s.recipe_room_ != 0) free_recipes_.give(index(s.recipe_), std::uint32_t{1} << s.recipe_room_);
  s.recipe_room_ = 0;
  s.recipe_length_ = 0;
  s.cost = {};
  while (s.first_dep_ != kEnd) {
    const std::uint32_t at = s.first_dep_;
    Edge& edge = edges_[at];
    s.first_dep_ = edge.next_dep;
    if (edge.next_dependent != kEnd)
      edges_[edge.next_dependent].previous_dependent = edge.previous_dependent;
    if (edge.previous_dependent != kEnd)
      edges_[edge.previous_dependent].next_dependent = edge.next_dependent;
    else
      (*this)[edge.dep].first_dependent_ = edge.next_dependent;
    edge.next_dep = free_edge_;
    free_edge_ = at;
  }
}

void Graph::add_edge(StorageId dep, StorageId dependent) {
  for (StorageId known : deps(dependent))
    if (known == dep) return;
  std::uint32_t at = free_edge_;
  if (at != kEnd) {
    free_edge_ = edges_[at].next_dep;
  } else {
    at = static_cast<std::uint32_t>(edges_.size());
    edges_.emplace_back();
  }
  Storage& from = (*this)[dep];
  Storage& to = (*this)[dependent];
  if (from.first_dependent_ != kEnd) edges_[from.first_dependent_].previous_dependent = at;
  edges_[at] = {.dep = dep,
                .dependent = dependent,
                .next_dep = to.first_dep_,
                .next_dependent = from.first_dependent_,
                .previous_dependent = kEnd};
  from.first_dependent_ = to.first_dep_ = at;
}

void Graph::reserve(std::size_t tensors, std::size_t ops) {
  storages_.reserve(tensors);
  tensors_.reserve(tensors);
  recipes_.reserve(tensors);
  ops_.reserve(ops);
  inputs_.reserve(2 * ops);
  versions_.reserve(2 * ops);
  edges_.reserve(2 * tensors);
}

}  // namespace weir
