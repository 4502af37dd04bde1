// What the lean order adds to the naive manager. All of its numbers are made anew when needed,
// except one: what an op needs is only found out when the op is listed.
#include <algorithm>
#include <limits>
#include <utility>

#include "twin/naive_manager.h"

namespace weir::twin {

namespace {
constexpr double kDearer = 1.5;  // a rule, not a detail: whoever tunes the manager's tunes this too
}

// The op and everything that has to run before it, unless it is on the list already.
void NaiveManager::list(std::uint32_t op) {
  if (options_.order != NaiveOrder::Lean || listed_.contains(op)) return;
  listed_.insert(op);
  listings_.push_back(op);
  for (TensorId input : graph_.inputs_of(op)) {
    awaited_.push_back(graph_.storage_of(input));
    settle();
  }
  for (TensorId input : graph_.inputs_of(op))
    if (!ready(input, op) && !offloaded(input)) list(op_to_restore(input));
  need_[op] = need(op);
}

void NaiveManager::unlist(std::uint32_t op) {
  if (listed_.erase(op) == 0) return;
  for (TensorId input : graph_.inputs_of(op)) {
    awaited_.erase(std::ranges::find(awaited_, graph_.storage_of(input)));
    settle();
    if (!awaited(graph_.storage_of(input))) suspects_.insert(graph_.storage_of(input));
  }
}

void NaiveManager::unlist_all() {
  for (std::uint32_t op : std::exchange(listings_, {})) unlist(op);
}

// The fewest bytes in which an op can run: the best of all orders of its missing inputs.
Bytes NaiveManager::need(std::uint32_t op) const {
  std::vector<TensorId> missing;
  Bytes there, made;
  for (TensorId input : graph_.inputs_of(op)) {
    const NaiveStorage& s = graph_[graph_.storage_of(input)];
    if (!ready(input, op))
      missing.push_back(input);
    else if (!s.recipe.empty())
      there += s.size;
  }
  for (TensorId output : graph_.outputs_of(op))
    if (index(output) < tensors_ && graph_.trace.tensors[index(output)].alias_of == kFresh)
      made += graph_[graph_.storage_of(output)].size;
  std::ranges::sort(missing);
  Bytes best = need_in_order(missing, there, made);
  while (std::ranges::next_permutation(missing).found)
    best = std::min(best, need_in_order(missing, there, made));
  return best;
}

Bytes NaiveManager::need_in_order(const std::vector<TensorId>& missing, Bytes held,
                                  Bytes made) const {
  Bytes most;
  for (TensorId input : missing) {
    const Bytes size = graph_[graph_.storage_of(input)].size;
    most = std::max(most, held + (offloaded(input) ? size : need_.at(op_to_restore(input))));
    held += size;
  }
  return std::max(most, held + made);
}

// Hungriest first: by what restoring one needs beyond its own size.
void NaiveManager::order_missing(std::vector<TensorId>& missing) {
  if (!frugal_) return;
  const auto hunger = [&](TensorId tensor) {
    if (offloaded(tensor)) return Bytes{};
    return need_[op_to_restore(tensor)] - graph_[graph_.storage_of(tensor)].size;
  };
  std::vector<TensorId> ordered;
  while (!missing.empty()) {
    auto hungriest = missing.begin();
    for (auto at = missing.begin(); at != missing.end(); ++at)
      if (hunger(*at) > hunger(*hungriest)) hungriest = at;
    ordered.push_back(*hungriest);
    missing.erase(hungriest);
  }
  missing = std::move(ordered);
}

void NaiveManager::become_frugal() {
  if (options_.order != NaiveOrder::Lean) return;
  frugal_ = true;
  std::map<std::uint64_t, StorageId> by_placing;
  for (std::uint32_t i = 0; i < places_.size(); ++i)
    if (place_of(StorageId{i}) == Place::Spent) by_placing[placed_[i]] = StorageId{i};
  for (const auto& [when, storage] : by_placing) settle(storage);
}

// Its own cost and that of everything not there that it would have to be made from, for each byte.
double NaiveManager::price(StorageId storage) const {
  std::set<StorageId> evicted, fetched;
  const auto climb = [&](const auto& self, StorageId from) -> void {
    for (StorageId dep : graph_.deps(from)) {
      if (graph_[dep].where == Where::Offloaded)
        fetched.insert(dep);
      else if (!graph_.resident(dep) && evicted.insert(dep).second)
        self(self, dep);
    }
  };
  climb(climb, storage);
  Nanos cost = graph_.cost(storage);
  for (StorageId ancestor : evicted) cost += graph_.cost(ancestor);
  for (StorageId ancestor : fetched) cost += graph_.tier.transfer(graph_[ancestor].size);
  return static_cast<double>(cost.n) /
         static_cast<double>(std::max<std::int64_t>(1, graph_[storage].size.n));
}

// The cheapest of what waiting ops hold, if the policy has no choice or a much dearer one.
StorageId NaiveManager::give_way(StorageId choice) {
  if (!restoring_ || !frugal_) return kNoStorage;
  StorageId cheapest = kNoStorage;
  double lowest = std::numeric_limits<double>::infinity();
  if (choice != kNoStorage) lowest = price(choice) / kDearer;
  for (std::size_t i = 0; i + 1 < waiting_.size(); ++i) {
    for (StorageId held : waiting_[i].held) {
      if (waiting_[i].firm || !only_loosely_held(held) || price(held) >= lowest) continue;
      lowest = price(held);
      cheapest = held;
    }
  }
  for (std::size_t i = 0; cheapest != kNoStorage && i + 1 < waiting_.size(); ++i) {
    while (std::ranges::count(waiting_[i].held, cheapest) != 0) {
      waiting_[i].held.erase(std::ranges::find(waiting_[i].held, cheapest));
      waiting_[i].gave_way = true;
      unpin(cheapest);
    }
  }
  coverage_.gave_way += cheapest != kNoStorage;
  return cheapest;
}

// Pinned by nothing but ops that wait and have not given way before.
bool NaiveManager::only_loosely_held(StorageId storage) const {
  const NaiveStorage& s = graph_[storage];
  if (s.recipe.empty() || !complete(storage) || s.size == Bytes{}) return false;
  std::ptrdiff_t loose = 0;
  for (std::size_t i = 0; i + 1 < waiting_.size(); ++i)
    if (!waiting_[i].firm) loose += std::ranges::count(waiting_[i].held, storage);
  return loose == static_cast<std::ptrdiff_t>(s.pins);
}

}  // namespace weir::twin
