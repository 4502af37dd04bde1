// In-place changes. Once a storage has been changed, nothing that was made from its old version can
// be made again. So before the change everything that depends on the old version is made safe.
#include "core/state.h"

namespace weir::core {

// Readers of the old version: a present one keeps its bytes and loses its recipe; an evicted one
// that the program can still name is restored first and loses it then; a ghost dies, and with it
// whatever was made from it loses its recipe in the same way.
void State::prepare_mutation(Job& job) {
  for (StorageId storage : job.mutated) ++graph[storage].changing;
  find_readers(job.mutated);
  for (StorageId reader : readers_.present) lose_recipe(reader);
  for (StorageId reader : readers_.evicted) job.rescue.push_back(graph[reader].root);
  job.doomed = readers_.ghosts;
}

void State::find_readers(std::vector<StorageId> sources) {
  readers_.present.clear();
  readers_.evicted.clear();
  readers_.ghosts.clear();
  seen_.clear(graph.storages());
  while (!sources.empty()) {
    const StorageId source = sources.back();
    sources.pop_back();
    for (StorageId reader : graph.dependents(source)) {
      if (!seen_.insert(reader)) continue;
      const Storage& s = graph[reader];
      if (s.where() != Residency::Evicted) {
        readers_.present.push_back(reader);
      } else if (s.references != 0) {
        readers_.evicted.push_back(reader);
      } else {
        readers_.ghosts.push_back(reader);
        sources.push_back(reader);
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

void State::lose_old_version(StorageId storage) {
  ++graph[storage].version;
  discard_copy(storage);
}

void State::stop_changing(const Job& job) {
  for (StorageId storage : job.mutated) --graph[storage].changing;
}

void State::complete_mutation(Job& job) {
  stop_changing(job);
  const bool pure = graph[job.op].pure && reads_the_same(job.op);
  for (StorageId storage : job.mutated) {
    lose_old_version(storage);
    const std::span<const OpId> recipe = graph.recipe(storage);
    const bool replayable = pure && job.mutated.size() == 1 && !recipe.empty() &&
                            graph[recipe.front()].step == step_ &&
                            recipe.size() < options.longest_recipe;
    if (replayable) {
      graph.extend_recipe(storage, job.op);
      graph[storage].progress = static_cast<std::uint32_t>(graph.recipe(storage).size());
      note(storage, Change::Grown);
    } else {
      lose_recipe(storage);
    }
  }
}

}  // namespace weir::core
