// How the naive manager brings things back: by recursion.
#include <algorithm>
#include <functional>

#include "twin/naive_manager.h"

namespace weir::twin {

bool NaiveManager::available(TensorId tensor) const {
  const StorageId storage = graph_.storage_of(tensor);
  if (!graph_.resident(storage)) return false;
  return graph_.trace.views == ViewRule::Rerun ? defined_.contains(tensor) : complete(storage);
}

// A half restored storage is ready for the op that comes next in its recipe.
bool NaiveManager::ready(TensorId tensor, std::uint32_t reader) const {
  const StorageId storage = graph_.storage_of(tensor);
  if (available(tensor)) return true;
  return graph_.resident(storage) && !complete(storage) &&
         graph_[storage].recipe[graph_[storage].done] == reader;
}

std::uint32_t NaiveManager::op_to_restore(TensorId tensor) const {
  if (graph_.trace.views == ViewRule::Rerun) return graph_.op_of(tensor);
  const StorageId storage = graph_.storage_of(tensor);
  return graph_[storage].recipe.at(graph_.resident(storage) ? graph_[storage].done : 0);
}

bool NaiveManager::offloaded(TensorId tensor) const {
  return graph_[graph_.storage_of(tensor)].where == Where::Offloaded;
}

void NaiveManager::restore(TensorId tensor, std::uint32_t reader) {
  if (offloaded(tensor)) fetch(graph_.storage_of(tensor));
  while (!ready(tensor, reader)) run_again(op_to_restore(tensor), tensor);
}

void NaiveManager::run_again(std::uint32_t op, TensorId target) {
  wait_for_inputs(op);
  rerun_.push_back(op);
  if (++replays_ > options_.most_replays) {
    status_ = "broken off";
    throw Stop{};
  }
  std::vector<TensorId> unwanted = graph_.outputs_of(op);
  std::erase_if(unwanted, [&](TensorId output) { return wants(output, target); });
  restoring_ = true;
  launch(op);
  restoring_ = false;
  if (options_.only_wanted)
    for (TensorId output : unwanted) delivered_.erase(output);
  for (TensorId output : unwanted)
    coverage_.half_dropped += graph_[graph_.storage_of(output)].where == Where::Evicted;
  recompute_ += graph_.trace.ops[op].cost;
  ++recomputes_;
  ++coverage_.recomputes;
  const StorageId storage = graph_.storage_of(target);
  if (graph_.trace.views == ViewRule::Keep && graph_.resident(storage)) {
    ++coverage_.in_place;
    ++graph_[storage].done;
    delivered_.clear();
    settle();
  } else {
    adopt_all(op, target, false);
  }
  unlist(op);
  let_go();
  for (TensorId input : graph_.inputs_of(op)) banish_if_unneeded(graph_.storage_of(input));
}

// From here until let_go(), the op's inputs are on their way, and then all there and held.
void NaiveManager::wait_for_inputs(std::uint32_t op) {
  list(op);
  for (TensorId input : graph_.inputs_of(op)) graph_[graph_.storage_of(input)].last_use = clock_;
  const std::size_t me = waiting_.size();
  waiting_.push_back({.op = op});
  hold_inputs(me);
  while (waiting_[me].gave_way) {
    ++coverage_.taken_back;
    waiting_[me].gave_way = false;
    waiting_[me].firm = true;
    const std::vector<StorageId> left = std::exchange(waiting_[me].held, {});
    for (StorageId storage : left) unpin(storage);
    hold_inputs(me);
  }
}

void NaiveManager::hold_inputs(std::size_t waiting) {
  const std::uint32_t op = waiting_[waiting].op;
  const auto hold = [&](TensorId input) {
    waiting_[waiting].held.push_back(graph_.storage_of(input));
    pin(graph_.storage_of(input));
  };
  std::vector<TensorId> missing;
  for (TensorId input : graph_.inputs_of(op)) {
    if (ready(input, op))
      hold(input);
    else
      missing.push_back(input);
  }
  order_missing(missing);
  for (TensorId input : missing) {
    restore(input, op);
    hold(input);
  }
}

void NaiveManager::let_go() {
  const std::uint32_t op = waiting_.back().op;
  waiting_.pop_back();
  for (TensorId input : graph_.inputs_of(op)) unpin(graph_.storage_of(input));
}

// The output the op was run for comes last.
void NaiveManager::adopt_all(std::uint32_t op, TensorId last, bool first) {
  const std::vector<TensorId> outputs = graph_.outputs_of(op);
  for (TensorId output : outputs)
    if (output != last) adopt(output, first, last);
  if (!outputs.empty()) adopt(last, first, last);
  delivered_.clear();
}

// Would this output of a replay be good for its storage? Not if more than this op makes it: nobody
// would do the rest.
bool NaiveManager::wants(TensorId output, TensorId target) const {
  const StorageId storage = graph_.storage_of(output);
  if (graph_[storage].where != Where::Evicted) return false;
  if (graph_.trace.views == ViewRule::Rerun || storage == graph_.storage_of(target)) return true;
  return graph_[storage].recipe.size() == 1;
}

void NaiveManager::adopt(TensorId tensor, bool first, TensorId target) {
  const StorageId storage = graph_.storage_of(tensor);
  NaiveStorage& s = graph_[storage];
  const bool fresh = graph_.trace.tensors[index(tensor)].alias_of == kFresh;
  if (fresh && s.where != Where::Resident) {
    if (s.where == Where::Dead || (!first && !wants(tensor, target))) return;
    if (delivered_.erase(tensor) == 0) return;
    s.where = Where::Resident;
    s.done = 1;
    policy_.restored(graph_, storage);
    placed_[index(storage)] = ++placings_;
    settle();
  }
  defined_.insert(tensor);
}

}  // namespace weir::twin
