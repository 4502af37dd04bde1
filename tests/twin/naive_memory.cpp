// The naive manager's memory: who has bytes, who may lose them.
#include <algorithm>

#include "twin/naive_manager.h"

namespace weir::twin {

Bytes NaiveManager::used() const {
  Bytes sum;
  for (const NaiveStorage& s : graph_.storages)
    if (s.where == Where::Resident) sum += s.size;
  for (const auto& [tensor, size] : delivered_) sum += size;
  return sum;
}

void NaiveManager::launch(std::uint32_t op) {
  for (TensorId output : graph_.outputs_of(op)) {
    const TraceTensor& made = graph_.trace.tensors[index(output)];
    if (made.alias_of == kFresh) allocate(graph_.trace.storages[index(made.storage)].size, output);
  }
  clock_ += graph_.trace.ops[op].cost;
}

void NaiveManager::allocate(Bytes size, TensorId output) {
  while (used() + size > options_.budget) reclaim_one();
  delivered_[output] = size;
}

void NaiveManager::reclaim_one() {
  StorageId victim = policy_.choose(graph_, candidates_, clock_);
  if (victim == kNoStorage && spent_.empty()) become_frugal();
  if (!spent_.empty()) {
    victim = spent_.back();
    ++coverage_.spent;
  } else if (const StorageId held = give_way(victim); held != kNoStorage) {
    victim = held;
  }
  if (victim == kNoStorage) {
    status_ = "out of budget";
    throw Stop{};
  }
  evict(victim);
  ++evictions_;
  ++coverage_.evictions;
}

void NaiveManager::evict(StorageId storage) {
  graph_[storage].where = Where::Evicted;
  std::erase_if(defined_, [&](TensorId tensor) { return graph_.storage_of(tensor) == storage; });
  freed_.push_back(storage);
  settle();
  policy_.evicted(graph_, storage);
}

void NaiveManager::kill(StorageId storage) {
  if (graph_.resident(storage)) freed_.push_back(storage);
  graph_[storage].where = Where::Dead;
  std::erase_if(defined_, [&](TensorId tensor) { return graph_.storage_of(tensor) == storage; });
  settle();
  lose_recipe(storage);
}

void NaiveManager::lose_recipe(StorageId storage) {
  graph_.forget(storage);
  settle();
}

// Banishing: a storage that nobody references dies once all that was made from it is there, with
// every view. That is stuck from then on.
void NaiveManager::banish_if_unneeded(StorageId storage) {
  const NaiveStorage& s = graph_[storage];
  if (options_.deallocation != NaiveDeallocation::Banish) return;
  if (s.references != 0 || s.pins != 0) return;
  if (s.where == Where::Dead || s.where == Where::Pending || needed_again(storage)) return;
  for (StorageId dependent : graph_.dependents(storage)) lose_recipe(dependent);
  ++releases_;
  ++coverage_.banished;
  kill(storage);
}

bool NaiveManager::needed_again(StorageId storage) const {
  for (StorageId dependent : graph_.dependents(storage))
    for (std::uint32_t i = 0; i < tensors_; ++i)
      if (graph_.storage_of(TensorId{i}) == dependent && !available(TensorId{i})) return true;
  return false;
}

void NaiveManager::pin(StorageId storage) {
  ++graph_[storage].pins;
  settle();
}

void NaiveManager::unpin(StorageId storage) {
  --graph_[storage].pins;
  settle();
}

bool NaiveManager::complete(StorageId storage) const {
  return graph_.trace.views == ViewRule::Rerun ||
         graph_[storage].done >= graph_[storage].recipe.size();
}

NaiveManager::Place NaiveManager::place_of(StorageId storage) const {
  const NaiveStorage& s = graph_[storage];
  if (s.where != Where::Resident || s.pins != 0 || s.recipe.empty() || !complete(storage))
    return Place::None;
  if (!frugal_ || s.references != 0 || s.size == Bytes{}) return Place::Candidate;
  const bool awaited = std::ranges::find(awaited_, storage) != awaited_.end();
  return awaited ? Place::Candidate : Place::Spent;
}

// Called after every single change: whoever may be reclaimed now and could not before comes last.
void NaiveManager::settle() {
  for (std::uint32_t i = 0; i < graph_.storages.size(); ++i) settle(StorageId{i});
}

void NaiveManager::settle(StorageId storage) {
  const Place now = place_of(storage);
  if (now == places_[index(storage)]) return;
  std::erase(candidates_, storage);
  std::erase(spent_, storage);
  if (now == Place::Candidate) candidates_.push_back(storage);
  if (now == Place::Spent) spent_.push_back(storage);
  places_[index(storage)] = now;
}

}  // namespace weir::twin
