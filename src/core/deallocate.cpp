// What happens to storages that the program has let go of.
#include "base/check.h"
#include "core/state.h"

namespace weir::core {

void State::retain(TensorId tensor) {
  ++graph[tensor].references;
  const StorageId storage = graph[tensor].storage;
  if (graph[storage].references++ == 0) place(storage);
}

void State::release(TensorId tensor) {
  Tensor& t = graph[tensor];
  Storage& s = graph[t.storage];
  WEIR_CHECK(t.references > 0 && s.references > 0, tensor, t.storage);
  --t.references;
  if (--s.references != 0) return;
  policy_.release(graph, t.storage);
  if (options.deallocation == Deallocation::Banish) {
    try_banish(t.storage);
  } else if (options.deallocation == Deallocation::EagerEvict && evictable(s) &&
             !policy_.keeps(t.storage)) {
    ++counters.releases;
    evict(t.storage);
  }
  let_go(t.storage);
}

void State::let_go(StorageId storage) {
  place(storage);
  suspect(storage);
}

// With DTR's rules a program may use what it has released: then only a step's end tells.
bool State::buries() const {
  return options.deallocation == Deallocation::EagerEvict && options.views == ViewRule::Keep;
}

bool State::orphaned(StorageId storage) const {
  const Storage& s = graph[storage];
  if (s.references != 0 || s.pins != 0 || s.awaited != 0) return false;
  if (s.where() == Residency::Pending || s.where() == Residency::Dead) return false;
  return graph.dependents(storage).empty();
}

// Nobody references it and no recipe could bring it back, but others are made from it. If all their
// bytes are somewhere they lose their recipes, so that it can go.
void State::try_retire(StorageId storage) {
  const Storage& s = graph[storage];
  if (s.references != 0 || s.pins != 0 || s.awaited != 0 || s.has_recipe()) return;
  if (s.where() == Residency::Pending || s.where() == Residency::Dead) return;
  find_readers({storage});
  if (!readers_.evicted.empty()) return;
  for (StorageId reader : readers_.present)
    if (graph[reader].where() == Residency::Pending || !graph[reader].complete()) return;
  for (StorageId ghost : readers_.ghosts)
    if (graph[ghost].awaited != 0) return;
  const Readers found = readers_;
  for (StorageId reader : found.present) lose_recipe(reader);
  for (StorageId ghost : found.ghosts) kill(ghost);
}

// Only when no job waits: one that waits may have to make a ghost, and know it by its id.
void State::bury_orphans() {
  if (restorers_ != 0) return;
  while (buries() && !suspects_.empty()) {
    const StorageId storage = suspects_.back();
    suspects_.pop_back();
    if (orphaned(storage))
      kill(storage);
    else
      try_retire(storage);
  }
  suspects_.clear();
  bury();
}

// What an op that was listed reads is kept until the op is taken off the list.
void State::bury() {
  std::erase_if(graves_, [&](StorageId storage) {
    if (graph[storage].awaited != 0) return false;
    executor_.died(storage);
    graph.bury(storage);
    return true;
  });
}

// Could anything still have to be made from it? What was made from it gets stuck when it dies, and
// must be all there by then: also views, whose ops may read yet other storages.
bool State::needed_again(StorageId storage) const {
  for (StorageId dependent : graph.dependents(storage)) {
    if (!graph[dependent].resident() || !graph[dependent].complete()) return true;
    for (OpId op : graph.recipe(dependent)) {
      const OpRecord& record = graph[op];
      for (std::uint32_t i = 0; i < record.outputs; ++i) {
        const TensorId output{index(record.first_output) + i};
        if (graph[output].storage == dependent && !available(output)) return true;
      }
    }
  }
  return false;
}

void State::try_banish(StorageId storage) {
  const Storage& s = graph[storage];
  if (s.references != 0 || s.pins != 0 || s.where() == Residency::Dead) return;
  if (s.where() == Residency::Pending || needed_again(storage)) return;
  std::vector<StorageId> stuck;
  for (StorageId dependent : graph.dependents(storage)) stuck.push_back(dependent);
  for (StorageId dependent : stuck) lose_recipe(dependent);
  ++counters.releases;
  kill(storage);
}

void State::banish_inputs(OpId op) {
  if (options.deallocation != Deallocation::Banish) return;
  for (TensorId input : graph.inputs(graph[op])) try_banish(graph[input].storage);
}

// Lives: what the program can name or an op holds, and all that this could have to be made from.
// What was made before this step loses its recipe: a chain over all steps would grow for ever. (Not
// where views are lost: its recipe is what brings them back.)
void State::end_step() {
  seen_.clear(graph.storages());
  std::vector<StorageId> work;
  for (std::uint32_t i = 0; i < graph.storages(); ++i) {
    const Storage& s = graph[StorageId{i}];
    if ((s.references != 0 || s.pins != 0 || s.where() == Residency::Pending) &&
        seen_.insert(StorageId{i}))
      work.push_back(StorageId{i});
  }
  while (!work.empty()) {
    const StorageId storage = work.back();
    work.pop_back();
    for (StorageId dep : graph.deps(storage))
      if (seen_.insert(dep)) work.push_back(dep);
  }
  for (std::uint32_t i = 0; i < graph.storages(); ++i) {
    const StorageId storage{i};
    const Storage& s = graph[storage];
    if (s.where() == Residency::Dead) continue;
    if (!seen_.contains(storage) && s.awaited == 0 && restorers_ == 0)
      kill(storage);
    else if (options.views == ViewRule::Keep && s.where() != Residency::Evicted && s.complete() &&
             s.has_recipe() && graph[graph.recipe(storage).front()].step < step_)
      lose_recipe(storage);
  }
  ++step_;
  View now = view();
  now.tier = executor_.tier();
  policy_.end_step(now);
}

}  // namespace weir::core
