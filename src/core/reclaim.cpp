// Making room: who goes, and where to.
#include <algorithm>
#include <limits>

#include "base/check.h"
#include "core/state.h"
#include "weir/errors.h"

namespace weir::core {

namespace {
constexpr double kAnyPrice = std::numeric_limits<double>::infinity();
}  // namespace

Charge State::charge(Bytes size) {
  const Bytes kept = reserve();
  while (kept > Bytes{} && ledger.used() + size > ledger.budget() - kept &&
         reclaim_for_reserve(size)) {
  }
  for (;;) {
    if (std::optional<Charge> charge = ledger.try_charge(size)) return std::move(*charge);
    reached_ = true;
    if (!reclaim_one(size)) throw OutOfBudget{size, ledger.budget(), ledger.used()};
  }
}

void State::set_budget(Bytes budget) {
  ledger.set_budget(budget);
  reached_ = ledger.used() > budget;
  if (reached_) reclaim_bytes(ledger.used() - budget);
}

Bytes State::reserve() const {
  if (options.reserve_one_in == 0 || !reached_) return policy_.reserve();
  return std::max(policy_.reserve(), Bytes{ledger.budget().n / options.reserve_one_in});
}

Bytes State::reclaim_bytes(Bytes size) {
  const Bytes before = ledger.used();
  while (before - ledger.used() < size && reclaim_one(size - (before - ledger.used()))) {
  }
  return before - ledger.used();
}

// Only what goes easily.
bool State::reclaim_for_reserve(Bytes need) {
  if (restoring_ != nullptr) return false;
  wake();
  if (spent_.size() != 0) return reclaim(spent_.last()), true;
  if (pool_.size() == 0) return false;
  const std::optional<Choice> choice = policy_.choose(view(), need);
  counters.scored = policy_.scored();
  if (!choice) return false;
  WEIR_CHECK(graph[choice->victim].place == Place::Candidate, choice->victim);
  reclaim(choice->victim, choice->by_plan);
  return true;
}

bool State::reclaim_one(Bytes need) {
  wake();
  if (spent_.size() != 0) return reclaim(spent_.last()), true;
  std::optional<Choice> choice;
  if (pool_.size() != 0) choice = policy_.choose(view(), need);
  counters.scored = policy_.scored();
  if (!choice) become_frugal();
  if (spent_.size() != 0) return reclaim(spent_.last()), true;
  const bool by_plan = choice && choice->by_plan;
  if (restoring_ != nullptr && frugal_ && !by_plan) {
    const double dearest = choice ? price(choice->victim) : kAnyPrice;
    if (const StorageId held = restore_->give_way(*this, *restoring_, dearest); held != kNoStorage)
      return reclaim(held), true;
  }
  if (!choice) return cancel_last_arrival();
  WEIR_CHECK(graph[choice->victim].place == Place::Candidate, choice->victim);
  reclaim(choice->victim, by_plan);
  return true;
}

// If no tier has room for what cannot be recomputed, it stays, and is no candidate any more.
void State::reclaim(StorageId storage, bool by_plan) {
  const bool can_evict = evictable(graph[storage]);
  const bool copied = graph[storage].backed || graph[storage].saving;
  if ((!can_evict || copied || (!by_plan && had_better_be_offloaded(storage))) && offload(storage))
    return;
  if (!can_evict) return;
  ++counters.evictions;
  evict(storage);
}

bool State::had_better_be_offloaded(StorageId storage) {
  const Storage& s = graph[storage];
  if (!options.offload || s.homeless || s.place == Place::Spent) return false;
  const double transfer = static_cast<double>(executor_.transfer_cost(s.size).n);
  return price(storage) * static_cast<double>(s.size.n) > transfer;
}

bool State::offload(StorageId storage) {
  if (back_up(storage)) {
    free_bytes(storage, Residency::Offloaded);
    return true;
  }
  Storage& s = graph[storage];
  s.homeless = true;
  homeless_.push_back(storage);
  place(storage);
  return false;
}

bool State::back_up(StorageId storage) {
  Storage& s = graph[storage];
  if (s.backed || (s.saving && finish_saving(storage))) return true;
  if (!options.offload || !s.complete() || !executor_.offload(storage)) return false;
  s.backed = true;
  spent_time_ += executor_.transfer_cost(s.size);
  ++counters.offloads;
  return true;
}

}  // namespace weir::core
