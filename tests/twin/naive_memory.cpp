// The naive manager's memory: who has bytes, who may lose them.
#include <algorithm>
#include <utility>

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
  make_room(size);
  delivered_[output] = size;
}

void NaiveManager::make_room(Bytes size) {
  const Bytes reserve = std::max(reserve_, own_reserve());
  while (reserve > Bytes{} && used() + size > options_.budget - reserve && reclaim_for_reserve()) {
  }
  while (used() + size > options_.budget) {
    reached_ = true;
    if (reclaim_one()) continue;
    status_ = "out of budget";
    throw Stop{};
  }
}

Bytes NaiveManager::own_reserve() const {
  if (options_.reserve_one_in == 0 || !reached_) return {};
  return {options_.budget.n / options_.reserve_one_in};
}

void NaiveManager::reclaim_bytes(Bytes size) {
  const Bytes before = used();
  while (before - used() < size && reclaim_one()) {
  }
}

void NaiveManager::set_budget(Bytes budget) {
  options_.budget = budget;
  reached_ = used() > budget;
  if (used() > budget) reclaim_bytes(used() - budget);
}

bool NaiveManager::reclaim_for_reserve() {
  if (restoring_) return false;
  const StorageId choice = policy_.choose(graph_, candidates_, clock_);
  const StorageId victim = spent_.empty() ? choice : spent_.back();
  if (victim == kNoStorage) return false;
  ++coverage_.for_reserve;
  reclaim(victim);
  return true;
}

bool NaiveManager::reclaim_one() {
  StorageId victim = policy_.choose(graph_, candidates_, clock_);
  if (victim == kNoStorage && spent_.empty()) become_frugal();
  if (!spent_.empty()) {
    victim = spent_.back();
    ++coverage_.spent;
  } else if (const StorageId held = give_way(victim); held != kNoStorage) {
    victim = held;
  }
  if (victim == kNoStorage) return false;
  reclaim(victim);
  return true;
}

// What has no recipe can only go to the tier; what has one goes where it comes back from sooner.
void NaiveManager::reclaim(StorageId storage) {
  const NaiveStorage& s = graph_[storage];
  const bool spent = places_[index(storage)] == Place::Spent;
  const double whole = price(storage) * static_cast<double>(s.size.n);
  const auto transfer = static_cast<double>(graph_.tier.transfer(s.size).n);
  const bool dearer = graph_.tier.there && !spent && !s.homeless && whole > transfer;
  if ((s.recipe.empty() || s.backed || dearer) && offload(storage)) return;
  if (s.recipe.empty()) return;
  evict(storage);
  ++evictions_;
  ++coverage_.evictions;
}

bool NaiveManager::offload(StorageId storage) {
  NaiveStorage& s = graph_[storage];
  if (!s.backed && in_tier() + s.size > graph_.tier.capacity) {
    s.homeless = true;
    homeless_.push_back(storage);
    ++coverage_.homeless;
    settle();
    return false;
  }
  ++(s.backed ? coverage_.for_free : coverage_.offloads);
  offloads_ += !s.backed;
  s.backed = true;
  s.where = Where::Offloaded;
  freed_.push_back(storage);
  settle();
  return true;
}

Bytes NaiveManager::in_tier() const {
  Bytes sum;
  for (const NaiveStorage& s : graph_.storages)
    if (s.backed) sum += s.size;
  return sum;
}

void NaiveManager::fetch(StorageId storage) {
  restoring_ = true;
  make_room(graph_[storage].size);
  restoring_ = false;
  graph_[storage].where = Where::Resident;
  ++fetches_;
  ++coverage_.fetches;
  settle();
}

// The tier may have room now for those it had none for.
void NaiveManager::discard_copy(StorageId storage) {
  if (!graph_[storage].backed) return;
  graph_[storage].backed = false;
  for (StorageId homeless : std::exchange(homeless_, {})) {
    graph_[homeless].homeless = false;
    if (std::erase(candidates_, homeless) > 0) candidates_.push_back(homeless);
    settle(homeless);
  }
}

// What the tier has a copy of is not lost.
void NaiveManager::evict(StorageId storage) {
  if (graph_[storage].backed) {
    offload(storage);
    return;
  }
  graph_[storage].where = Where::Evicted;
  std::erase_if(defined_, [&](TensorId tensor) { return graph_.storage_of(tensor) == storage; });
  freed_.push_back(storage);
  settle();
  policy_.evicted(graph_, storage);
}

void NaiveManager::kill(StorageId storage) {
  if (graph_.resident(storage)) died_.push_back(storage);
  graph_[storage].where = Where::Dead;
  graph_[storage].homeless = false;
  std::erase(homeless_, storage);
  std::erase_if(defined_, [&](TensorId tensor) { return graph_.storage_of(tensor) == storage; });
  settle();
  discard_copy(storage);
  lose_recipe(storage);
}

void NaiveManager::lose_recipe(StorageId storage) {
  if (graph_[storage].recipe.empty()) return;
  suspects_.insert(storage);
  for (StorageId dep : graph_.deps(storage)) suspects_.insert(dep);
  graph_.forget(storage);
  settle();
}

// Nobody can want it: not the program, not an op, not something that is made from it.
bool NaiveManager::orphaned(StorageId storage) const {
  const NaiveStorage& s = graph_[storage];
  if (s.references != 0 || s.pins != 0 || awaited(storage)) return false;
  if (s.where == Where::Pending || s.where == Where::Dead) return false;
  return graph_.dependents(storage).empty();
}

// With DTR's rules a program may use what it has let go of.
void NaiveManager::bury_orphans() {
  const bool at_once = options_.deallocation == NaiveDeallocation::EagerEvict &&
                       graph_.trace.views == ViewRule::Keep;
  while (at_once && !suspects_.empty()) {
    const StorageId storage = *suspects_.rbegin();
    suspects_.erase(storage);
    if (orphaned(storage)) {
      ++coverage_.died_at_once;
      kill(storage);
    } else {
      retire(storage);
    }
  }
  suspects_.clear();
}

// The last way to it is that something is made from it. If all that is there, it need not be made
// again, and the storage can go.
void NaiveManager::retire(StorageId storage) {
  const NaiveStorage& s = graph_[storage];
  if (s.references != 0 || s.pins != 0 || awaited(storage) || !s.recipe.empty()) return;
  if (s.where == Where::Pending || s.where == Where::Dead) return;
  const Readers readers = readers_of({storage});
  if (!readers.evicted.empty()) return;
  for (StorageId reader : readers.present)
    if (graph_[reader].where == Where::Pending || !complete(reader)) return;
  for (StorageId ghost : readers.ghosts)
    if (awaited(ghost)) return;
  coverage_.retired += !readers.present.empty();
  for (StorageId reader : readers.present) lose_recipe(reader);
  for (StorageId ghost : readers.ghosts) kill(ghost);
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
  if (graph_[storage].pins == 0 && graph_[storage].references == 0) suspects_.insert(storage);
}

bool NaiveManager::complete(StorageId storage) const {
  return graph_.trace.views == ViewRule::Rerun ||
         graph_[storage].done >= graph_[storage].recipe.size();
}

NaiveManager::Place NaiveManager::place_of(StorageId storage) const {
  const NaiveStorage& s = graph_[storage];
  if (s.where != Where::Resident || s.pins != 0 || !complete(storage)) return Place::None;
  if (s.recipe.empty() && (!graph_.tier.there || s.homeless)) return Place::None;
  const bool wanted = s.references != 0 || awaited(storage) || s.size == Bytes{};
  if (frugal_ && !wanted && !s.recipe.empty()) return Place::Spent;
  return s.size < options_.smallest ? Place::None : Place::Candidate;
}

bool NaiveManager::awaited(StorageId storage) const {
  return std::ranges::find(awaited_, storage) != awaited_.end();
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
  placed_[index(storage)] = ++placings_;
}

}  // namespace weir::twin
