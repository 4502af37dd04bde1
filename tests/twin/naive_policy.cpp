#include "twin/naive_policy.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weir::twin {

namespace {

std::vector<StorageId> neighbours(const NaiveGraph& graph, StorageId storage) {
  std::vector<StorageId> all = graph.deps(storage);
  for (StorageId dependent : graph.dependents(storage)) all.push_back(dependent);
  return all;
}

enum class Direction : bool { Up, Down };

// Whatever is away and can be reached in one direction through what is away.
void reach(const NaiveGraph& graph, StorageId from, Direction way, std::set<StorageId>& found) {
  for (StorageId next : way == Direction::Up ? graph.deps(from) : graph.dependents(from))
    if (graph.away(next) && found.insert(next).second) reach(graph, next, way, found);
}

Nanos sum_of_reached(const NaiveGraph& graph, StorageId from, Direction way) {
  std::set<StorageId> found;
  reach(graph, from, way, found);
  Nanos sum;
  for (StorageId storage : found) sum += graph.cost(storage);
  return sum;
}

}  // namespace

const std::vector<NaivePolicy::Kind>& NaivePolicy::kinds() {
  static const std::vector<Kind> all{
      {"size", Cost::None, true, false},
      {"h_dtr_local", Cost::Own, true, true},
      {"h_dtr", Cost::Neighbourhood, true, true},
      {"h_dtr_eq", Cost::Classes, true, true},
      {"h_estar", Cost::Neighbourhood, true, false},
      {"msps", Cost::Ancestors, true, false},
      {"ab_e_size_stale", Cost::Neighbourhood, true, true},
      {"ab_e_size", Cost::Neighbourhood, true, false},
      {"ab_e_stale", Cost::Neighbourhood, false, true},
      {"ab_e", Cost::Neighbourhood, false, false},
      {"ab_eq_size_stale", Cost::Classes, true, true},
      {"ab_eq_size", Cost::Classes, true, false},
      {"ab_eq_stale", Cost::Classes, false, true},
      {"ab_eq", Cost::Classes, false, false},
      {"ab_local_size_stale", Cost::Own, true, true},
      {"ab_local_size", Cost::Own, true, false},
      {"ab_local_stale", Cost::Own, false, true},
      {"ab_local", Cost::Own, false, false},
      {"ab_none_size_stale", Cost::None, true, true},
      {"ab_none_size", Cost::None, true, false},
      {"ab_none_stale", Cost::None, false, true},
  };
  return all;
}

std::vector<std::string_view> NaivePolicy::names() {
  std::vector<std::string_view> all{"lru"};
  for (const Kind& kind : kinds()) all.push_back(kind.name);
  return all;
}

NaivePolicy::NaivePolicy(std::string_view name) {
  if (name == "lru") return;
  for (const Kind& kind : kinds())
    if (kind.name == name) kind_ = &kind;
  if (kind_ == nullptr) throw std::runtime_error{"no naive policy " + std::string{name}};
}

bool NaivePolicy::counts_lineage() const {
  return kind_ != nullptr && kind_->cost != Cost::None && kind_->cost != Cost::Own;
}

StorageId NaivePolicy::choose(const NaiveGraph& graph, const std::vector<StorageId>& candidates,
                              Nanos now) const {
  StorageId victim = kNoStorage;
  Score best;
  for (StorageId candidate : candidates) {
    const Score mine = score(graph, candidate, now);
    if (mine.at_most(best)) {
      best = mine;
      victim = candidate;
    }
    if (mine.zero()) break;
  }
  return victim;
}

bool NaivePolicy::Score::at_most(const Score& other) const {
  if (other.under == 0) return true;
  return under != 0 && over * other.under <= other.over * under;
}

NaivePolicy::Score NaivePolicy::score(const NaiveGraph& graph, StorageId storage, Nanos now) const {
  const NaiveStorage& s = graph[storage];
  if (kind_ == nullptr) return {.over = s.last_use.n, .under = 1};
  Score made{.over = cost(graph, storage).n, .under = 1};
  if (kind_->by_size) made.under *= s.size.n;
  if (kind_->by_staleness) made.under *= (now - s.last_use).n;
  return made;
}

Nanos NaivePolicy::cost(const NaiveGraph& graph, StorageId storage) const {
  const Nanos own = graph.cost(storage);
  switch (kind_->cost) {
    case Cost::None:
      return {1};
    case Cost::Own:
      return own;
    case Cost::Ancestors:
      return own + sum_of_reached(graph, storage, Direction::Up);
    case Cost::Neighbourhood:
      return own + sum_of_reached(graph, storage, Direction::Up) +
             sum_of_reached(graph, storage, Direction::Down);
    case Cost::Classes:
      return own + classes_next_to(graph, storage);
  }
  return own;
}

Nanos NaivePolicy::classes_next_to(const NaiveGraph& graph, StorageId storage) const {
  std::set<std::size_t> found;
  for (StorageId neighbour : neighbours(graph, storage))
    if (graph.away(neighbour)) found.insert(class_of(neighbour));
  Nanos sum;
  for (std::size_t which : found) sum += classes_[which].sum;
  return sum;
}

std::size_t NaivePolicy::class_of(StorageId storage) const {
  const auto has = [&](const Class& c) { return c.members.contains(storage); };
  return static_cast<std::size_t>(std::ranges::find_if(classes_, has) - classes_.begin());
}

void NaivePolicy::declared(StorageId storage) {
  if (has_classes()) classes_.push_back({.members = {storage}, .sum = {}});
}

void NaivePolicy::restored(const NaiveGraph& graph, StorageId storage) {
  if (!has_classes()) return;
  Class& old = classes_[class_of(storage)];
  old.members.erase(storage);
  old.sum -= graph.cost(storage);
}

void NaivePolicy::evicted(const NaiveGraph& graph, StorageId storage) {
  if (!has_classes()) return;
  Class joined{.members = {storage}, .sum = graph.cost(storage)};
  for (StorageId neighbour : neighbours(graph, storage)) {
    if (!graph.away(neighbour) || joined.members.contains(neighbour)) continue;
    const auto other = classes_.begin() + static_cast<std::ptrdiff_t>(class_of(neighbour));
    joined.members.merge(other->members);
    joined.sum += other->sum;
    classes_.erase(other);
  }
  classes_.push_back(std::move(joined));
}

}  // namespace weir::twin
