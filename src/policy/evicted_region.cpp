#include "policy/evicted_region.h"

#include <algorithm>

namespace weir::policy {

namespace {
// What a tier has comes back by itself.
bool away(const Storage& s) { return !s.resident() && s.where() != Residency::Offloaded; }
}  // namespace

// Visits every neighbour of what is searched, resident or away, and goes on through those away.
template <typename Visit>
void EvictedRegion::search(const Graph& graph, StorageId from, Side side, Visit&& visit) {
  seen_.clear(graph.storages());
  seen_.insert(from);
  work_.assign(1, from);
  while (!work_.empty()) {
    const StorageId at = work_.back();
    work_.pop_back();
    for (StorageId next : side == Side::Ancestors ? graph.deps(at) : graph.dependents(at)) {
      if (graph[next].where() == Residency::Dead || !seen_.insert(next)) continue;
      visit(next);
      if (away(graph[next])) work_.push_back(next);
    }
  }
}

void EvictedRegion::note(StorageId storage, Change change) {
  // Its id may have been another's.
  if (change == Change::Declared && index(storage) < known_.size()) known_[index(storage)] = {};
  // What lost its recipe lost its edges, and with them the way to whom it concerns.
  if (change == Change::Lost) changes_.resize(kFewChanges);
  if (changes_.size() < kFewChanges) changes_.push_back({storage, change});
}

void EvictedRegion::settle(const Graph& graph) {
  known_.resize(graph.storages());
  if (changes_.size() == kFewChanges) {
    ++round_;
    changes_.clear();
  }
  const Side other = side_ == Side::Ancestors ? Side::Descendants : Side::Ancestors;
  for (const auto [storage, change] : changes_) {
    const Trust trust = change == Change::Restored ? Trust::None : Trust::Bound;
    trust_at_most(storage, trust);
    search(graph, storage, other, [&](StorageId next) {
      if (!away(graph[next])) trust_at_most(next, trust);
    });
  }
  changes_.clear();
}

void EvictedRegion::trust_at_most(StorageId storage, Trust trust) {
  Trust& current = known_[index(storage)].trust;
  current = std::min(current, trust);
}

Nanos EvictedRegion::at_least(StorageId storage) const {
  const Known& known = known_[index(storage)];
  return known.round == round_ && known.trust != Trust::None ? known.sum : Nanos{};
}

Nanos EvictedRegion::cost(const Graph& graph, StorageId storage) {
  Known& known = known_[index(storage)];
  if (known.round == round_ && known.trust == Trust::Exact) return known.sum;
  Nanos sum{};
  search(graph, storage, side_, [&](StorageId next) {
    if (away(graph[next])) sum += graph[next].cost;
  });
  known = {.sum = sum, .round = round_, .trust = Trust::Exact};
  return sum;
}

}  // namespace weir::policy
