#include "weir/graph.h"

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
      return to == Residency::Evicted || to == Residency::Dead;
    case Residency::Evicted:
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
  const StorageId id{static_cast<std::uint32_t>(storages_.size())};
  storages_.emplace_back().size = size;
  return id;
}

OpId Graph::add_op(std::uint64_t tag, bool pure, std::span<const TensorId> inputs) {
  const OpId id{static_cast<std::uint32_t>(ops_.size())};
  ops_.push_back({.id = id,
                  .tag = tag,
                  .pure = pure,
                  .first_input = static_cast<std::uint32_t>(inputs_.size()),
                  .inputs = static_cast<std::uint32_t>(inputs.size()),
                  .first_output = TensorId{static_cast<std::uint32_t>(tensors_.size())}});
  for (TensorId input : inputs) {
    inputs_.push_back(input);
    versions_.push_back((*this)[(*this)[input].storage].version);
  }
  return id;
}

TensorId Graph::add_output(OpId op, StorageId storage, bool fresh) {
  OpRecord& record = ops_[index(op)];
  const TensorId id{static_cast<std::uint32_t>(tensors_.size())};
  if (record.outputs == 0) record.first_output = id;
  WEIR_CHECK(index(record.first_output) + record.outputs == index(id), op, id);
  ++record.outputs;
  if (fresh) (*this)[storage].root = id;
  tensors_.push_back({.storage = storage, .op = op, .fresh = fresh});
  return id;
}

void Graph::extend_recipe(StorageId storage, OpId op) {
  Storage& s = (*this)[storage];
  if (s.recipe_length_ != 0 && recipe(storage).back() == op) return;
  if (s.first_recipe_ + s.recipe_length_ != recipes_.size()) {
    const auto moved = static_cast<std::uint32_t>(recipes_.size());
    for (std::uint32_t i = 0; i < s.recipe_length_; ++i)
      recipes_.push_back(recipes_[s.first_recipe_ + i]);
    s.first_recipe_ = moved;
  }
  recipes_.push_back(op);
  ++s.recipe_length_;
  s.cost += (*this)[op].cost;
  for (TensorId input : inputs((*this)[op])) {
    const StorageId dep = (*this)[input].storage;
    if (dep != storage) add_edge(dep, storage);
  }
}

void Graph::forget_recipe(StorageId storage) {
  Storage& s = (*this)[storage];
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
