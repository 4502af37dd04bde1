// Copies to and from the tier that run beside ops. A policy says what it expects to go and to be
// wanted. Nothing here takes bytes that an op could want: what is brought back ahead takes free
// bytes, or those of what can go for nothing, and gives them up when all else is gone.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "core/state.h"
#include "weir/tier.h"

namespace weir::core {

void State::copy_ahead() {
  if (!options.offload) return;
  notice_copies();
  ahead_.save.clear();
  ahead_.bring.clear();
  policy_.look_ahead(view(), ahead_);
  for (StorageId storage : ahead_.save) save(storage);
  for (StorageId storage : ahead_.bring)
    if (!bring(storage)) return;
}

void State::save(StorageId storage) {
  Storage& s = graph[storage];
  if (!s.resident() || !s.complete() || s.pins != 0 || s.changing != 0) return;
  if (s.backed || s.saving || s.homeless || !executor_.begin_offload(storage)) return;
  s.saving = true;
  saving_.push_back(storage);
}

bool State::finish_saving(StorageId storage) {
  Storage& s = graph[storage];
  s.saving = false;
  if (!executor_.finish_offload(storage)) return false;
  s.backed = true;
  ++counters.offloads;
  return true;
}

// False: there is no room for it now.
bool State::bring(StorageId storage) {
  const Storage& s = graph[storage];
  if (s.where() != Residency::Offloaded || s.arriving) return true;
  while (ledger.used() + s.size > ledger.budget() - reserve())
    if (!reclaim_spare()) return false;
  std::optional<Charge> bytes = ledger.try_charge(s.size);
  if (!bytes) return false;
  begin_arrival(storage, std::move(*bytes));
  return true;
}

void State::begin_arrival(StorageId storage, Charge bytes) {
  if (!executor_.begin_fetch(storage)) return;
  graph[storage].arriving = true;
  charges_[index(storage)] = std::move(bytes);
  arriving_.push_back(storage);
}

void State::finish_arrival(StorageId storage) {
  Storage& s = graph[storage];
  s.arriving = false;
  Charge bytes = std::exchange(charges_[index(storage)], Charge{});
  executor_.finish_fetch(storage);
  charges_[index(storage)] = std::move(bytes);
  s.move_to(Residency::Resident);
  ++counters.fetches;
  place(storage);
}

void State::cancel_arrival(StorageId storage) {
  if (receive(storage)) free_bytes(storage, Residency::Offloaded);
}

bool State::reclaim_spare() {
  wake();
  if (spent_.size() != 0) return reclaim(spent_.last()), true;
  if (pool_.size() == 0) return false;
  const std::optional<Choice> choice = policy_.spare(view());
  if (!choice) return false;
  WEIR_CHECK(graph[choice->victim].place == Place::Candidate, choice->victim);
  reclaim(choice->victim, true);
  return true;
}

bool State::cancel_last_arrival() {
  while (!arriving_.empty()) {
    const StorageId storage = arriving_.back();
    arriving_.pop_back();
    if (!graph[storage].arriving) continue;
    cancel_arrival(storage);
    return true;
  }
  return false;
}

void State::receive(std::span<const TensorId> tensors) {
  for (TensorId tensor : tensors)
    if (graph[graph[tensor].storage].arriving) receive(graph[tensor].storage);
}

// False: the tier failed to give it. It stays there, and who fetches it tries again and is told.
bool State::receive(StorageId storage) {
  try {
    finish_arrival(storage);
  } catch (const TierError&) {
    return false;
  }
  return true;
}

// An id may be in a list more than once, if it was given out again meanwhile.
void State::notice_copies() {
  const auto saved = std::ranges::find_if(saving_, [&](StorageId storage) {
    if (!graph[storage].saving) return false;
    if (!executor_.copied(storage)) return true;
    finish_saving(storage);
    return false;
  });
  saving_.erase(saving_.begin(), saved);
  const auto arrived = std::ranges::find_if(arriving_, [&](StorageId storage) {
    if (!graph[storage].arriving) return false;
    if (!executor_.copied(storage)) return true;
    receive(storage);
    return false;
  });
  arriving_.erase(arriving_.begin(), arrived);
}

void State::settle() {
  for (StorageId storage : std::exchange(saving_, {}))
    if (graph[storage].saving) finish_saving(storage);
  for (StorageId storage : std::exchange(arriving_, {}))
    if (graph[storage].arriving) receive(storage);
}

}  // namespace weir::core
