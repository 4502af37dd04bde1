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
  if (options.deallocation == Deallocation::Banish) {
    try_banish(t.storage);
  } else if (options.deallocation == Deallocation::EagerEvict && s.place != Place::None) {
    ++counters.releases;
    return evict(t.storage);
  }
  place(t.storage);
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
void State::end_step() {
  seen_.clear(graph.storages());
  std::vector<StorageId> work;
  for (StorageId storage : living_) {
    const Storage& s = graph[storage];
    if ((s.references != 0 || s.pins != 0 || s.where() == Residency::Pending) &&
        seen_.insert(storage))
      work.push_back(storage);
  }
  while (!work.empty()) {
    const StorageId storage = work.back();
    work.pop_back();
    for (StorageId dep : graph.deps(storage))
      if (seen_.insert(dep)) work.push_back(dep);
  }
  std::erase_if(living_, [&](StorageId storage) {
    if (seen_.contains(storage)) return false;
    if (graph[storage].where() != Residency::Dead) kill(storage);
    return true;
  });
  step_begin_ = OpId{static_cast<std::uint32_t>(graph.ops())};
}

}  // namespace weir::core
