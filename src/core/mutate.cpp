// In-place changes. Once a storage has been changed, nothing that was made from its old version can
// be made again. So before the change everything that depends on the old version is made safe.
#include "core/state.h"

namespace weir::core {

// Readers of the old version: a resident one keeps its bytes and is stuck from now on; an evicted
// one that the program can still name is restored first and stuck then; an evicted one that nobody
// references dies, and with it whatever was made from it loses its recipe in the same way.
void State::prepare_mutation(Job& job) {
  seen_.clear(graph.storages());
  std::vector<StorageId> work = job.mutated, readers;
  while (!work.empty()) {
    const StorageId source = work.back();
    work.pop_back();
    readers.clear();
    for (StorageId reader : graph.dependents(source)) readers.push_back(reader);
    for (StorageId reader : readers) {
      if (!seen_.insert(reader)) continue;
      const Storage& s = graph[reader];
      if (s.where() != Residency::Evicted) {
        lose_recipe(reader);
      } else if (s.references != 0) {
        job.rescue.push_back(s.root);
      } else {
        job.doomed.push_back(reader);
        work.push_back(reader);
      }
    }
  }
}

// Everything in Job::rescue is resident again.
void State::finish_rescue(Job& job) {
  for (TensorId rescued : job.rescue) lose_recipe(graph[rescued].storage);
  job.rescue.clear();
  for (StorageId storage : job.doomed) {
    // A ghost may have come back on the way; one that another op holds just gets stuck.
    if (graph[storage].pins != 0)
      lose_recipe(storage);
    else if (graph[storage].where() != Residency::Dead)
      kill(storage);
  }
  job.doomed.clear();
}

void State::complete_mutation(Job& job) {
  for (StorageId storage : job.mutated) {
    Storage& s = graph[storage];
    ++s.version;
    const std::span<const OpId> recipe = graph.recipe(storage);
    const bool replayable = graph[job.op].pure && job.mutated.size() == 1 && !recipe.empty() &&
                            recipe.front() >= step_begin_ && recipe.size() < options.longest_recipe;
    if (replayable) {
      graph.extend_recipe(storage, job.op);
      s.progress = static_cast<std::uint32_t>(graph.recipe(storage).size());
      note(storage, Change::Grown);
    } else {
      lose_recipe(storage);
    }
  }
}

}  // namespace weir::core
