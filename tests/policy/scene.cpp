#include "policy/scene.h"

#include <algorithm>

namespace weir::policy {

StorageId Scene::make(const Made& made) {
  std::vector<TensorId> inputs;
  for (StorageId source : made.from) inputs.push_back(graph_[source].root);
  const OpId op = graph_.add_op(0, true, inputs,
                                {.phase = made.phase, .position = position_, .kind = made.kind});
  policy_->begin(graph_, graph_[op], {});
  graph_.set_cost(op, made.cost);
  position_ += made.cost;
  const StorageId storage = graph_.add_storage(made.size);
  graph_.begin_outputs(op, 1);
  graph_[graph_.add_output(op, storage, true)].references = 1;
  graph_[storage].references = 1;
  if (made.carried)
    graph_[storage].cost = made.cost;
  else
    graph_.extend_recipe(storage, op);
  note(storage, Change::Declared);
  graph_[storage].last_use = made.last_use;
  restore(storage);
  return storage;
}

void Scene::let_go(StorageId storage) {
  graph_[storage].references = 0;
  graph_[graph_[storage].root].references = 0;
}

void Scene::evict(StorageId storage) {
  graph_[storage].move_to(Residency::Evicted);
  withdraw(storage);
  note(storage, Change::Evicted);
}

void Scene::restore(StorageId storage) {
  graph_[storage].move_to(Residency::Resident);
  graph_[storage].progress = UINT32_MAX;
  note(storage, Change::Restored);
  offer(storage);
}

void Scene::grow(StorageId storage, Nanos cost) {
  const TensorId inputs[] = {graph_[storage].root};
  const OpId op = graph_.add_op(0, true, inputs);
  graph_.set_cost(op, cost);
  graph_.begin_outputs(op, 1);
  graph_.add_output(op, storage, false);
  graph_.extend_recipe(storage, op);
  note(storage, Change::Grown);
}

StorageId Scene::choose(Nanos now) {
  const View view{.graph = graph_, .now = now, .slots = slots_, .candidates = candidates_};
  const std::optional<Choice> choice = policy_->choose(view, {1});
  return choice ? choice->victim : kNoStorage;
}

std::uint64_t Scene::looks(Nanos now) {
  const std::uint64_t before = policy_->scored();
  choose(now);
  return policy_->scored() - before;
}

void Scene::note(StorageId storage, Change change) {
  if (policy_->wants(change)) policy_->note(graph_, storage, change);
}

void Scene::offer(StorageId storage) {
  graph_[storage].place = Place::Candidate;
  graph_[storage].slot = static_cast<std::uint32_t>(slots_.size());
  slots_.push_back(storage);
  ++candidates_;
  note(storage, Change::Offered);
}

void Scene::withdraw(StorageId storage) {
  graph_[storage].place = Place::None;
  std::ranges::replace(slots_, storage, kNoStorage);
  --candidates_;
  note(storage, Change::Withdrawn);
}

}  // namespace weir::policy
