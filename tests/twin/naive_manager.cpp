#include "twin/naive_manager.h"

#include <algorithm>

namespace weir::twin {

NaiveManager::NaiveManager(const Trace& trace, const NaiveOptions& options)
    : graph_{trace, options.tier},
      options_{options},
      policy_{options.policy},
      clock_{trace.start},
      frugal_{options.order == NaiveOrder::Lean && policy_.counts_lineage()} {}

void NaiveManager::apply(std::span<const Disturbance> before, TraceEvent event) {
  rerun_.clear();
  freed_.clear();
  died_.clear();
  try {
    for (const Disturbance& disturbance : before) disturb(disturbance);
    run(event);
  } catch (const Stop&) {
    give_up(status_);
  }
}

void NaiveManager::disturb(const Disturbance& disturbance) {
  switch (disturbance.kind) {
    case Disturbance::Write:
      return write(disturbance.tensor);
    case Disturbance::Reclaim:
      return reclaim_bytes(disturbance.bytes);
    case Disturbance::SetBudget:
      return set_budget(disturbance.bytes);
    case Disturbance::SetReserve:
      reserve_ = disturbance.bytes;
  }
}

void NaiveManager::run(TraceEvent event) {
  const TensorId tensor{event.item};
  switch (event.kind) {
    case EventKind::Constant:
      return add_constant(tensor);
    case EventKind::Op:
      return run_op(event.item);
    case EventKind::Retain:
      return retain(tensor);
    case EventKind::Release:
      return release(tensor);
    case EventKind::Keep:
      return keep(tensor);
    case EventKind::Step:
      return end_step();
  }
}

void NaiveManager::add_constant(TensorId tensor) {
  const Bytes size = graph_.trace.storages[index(graph_.storage_of(tensor))].size;
  allocate(size, tensor);
  delivered_.clear();
  graph_.storages.push_back({.where = Where::Resident, .size = size, .last_use = clock_});
  graph_.storages.back().references = 1;
  places_.push_back(Place::None);
  placed_.push_back(0);
  defined_.insert(tensor);
  ++tensors_;
  settle();
}

void NaiveManager::run_op(std::uint32_t op) {
  ops_begun_ = op + 1;
  first_run_ = op;
  find_old_readers(changed_by(op));
  if (rescue_.empty()) {
    make_old_readers_safe();
    list(op);  // what it makes is not known yet
  }
  declare(op);
  make_old_readers_safe();
  wait_for_inputs(op);
  launch(op);
  adopt_all(op, TensorId{graph_.trace.ops[op].first_output}, true);
  change_in_place(op);
  let_go();
  for (TensorId output : graph_.outputs_of(op)) graph_[graph_.storage_of(output)].last_use = clock_;
  for (TensorId input : graph_.inputs_of(op)) banish_if_unneeded(graph_.storage_of(input));
  for (TensorId output : graph_.outputs_of(op))
    if (graph_[graph_.storage_of(output)].references == 0)
      suspects_.insert(graph_.storage_of(output));
  unlist_all();
  first_run_.reset();
  bury_orphans();
}

void NaiveManager::keep(TensorId tensor) {
  graph_[graph_.storage_of(tensor)].last_use = clock_;
  restore(tensor, UINT32_MAX);
  pin(graph_.storage_of(tensor));
  unlist_all();
  bury_orphans();
}

// Somebody changes it whom we do not see: as an op in place that could not be run again.
void NaiveManager::write(TensorId tensor) {
  const StorageId storage = graph_.storage_of(tensor);
  ++coverage_.writes;
  graph_[storage].last_use = clock_;
  find_old_readers({storage});
  make_old_readers_safe();
  restore(tensor, UINT32_MAX);
  pin(storage);
  ++graph_[storage].version;
  discard_copy(storage);
  lose_recipe(storage);
  unlist_all();
  bury_orphans();
  unpin(storage);
  bury_orphans();
}

void NaiveManager::retain(TensorId tensor) {
  ++graph_[graph_.storage_of(tensor)].references;
  settle();
}

void NaiveManager::release(TensorId tensor) {
  const StorageId storage = graph_.storage_of(tensor);
  const bool last = --graph_[storage].references == 0;
  if (!last) return settle();
  const NaiveStorage& s = graph_[storage];
  const bool evictable =
      graph_.resident(storage) && s.pins == 0 && !s.recipe.empty() && complete(storage);
  if (evictable && options_.deallocation == NaiveDeallocation::EagerEvict) {
    ++releases_;
    evict(storage);
  }
  banish_if_unneeded(storage);
  settle();
  suspects_.insert(storage);
  bury_orphans();
}

// Lives: what the program can name, what is pinned, and what these could have to be made from. What
// is from before this step is not made again, unless it has to be.
void NaiveManager::end_step() {
  std::set<StorageId> lives;
  const auto spare = [&](const auto& self, StorageId storage) -> void {
    if (!lives.insert(storage).second) return;
    for (StorageId dep : graph_.deps(storage)) self(self, dep);
  };
  for (std::uint32_t i = 0; i < graph_.storages.size(); ++i)
    if (graph_.storages[i].references != 0 || graph_.storages[i].pins != 0)
      spare(spare, StorageId{i});
  for (std::uint32_t i = 0; i < graph_.storages.size(); ++i) {
    const NaiveStorage& s = graph_.storages[i];
    if (s.where == Where::Dead) continue;
    if (!lives.contains(StorageId{i})) {
      ++coverage_.collected;
      kill(StorageId{i});
    } else if (graph_.trace.views == ViewRule::Keep && s.where != Where::Evicted &&
               !s.recipe.empty() && s.recipe.front() < first_op_of_step_) {
      ++coverage_.aged;
      lose_recipe(StorageId{i});
    }
  }
  first_op_of_step_ = ops_begun_;
  bury_orphans();
}

void NaiveManager::declare(std::uint32_t op) {
  const TraceOp& called = graph_.trace.ops[op];
  const bool replayable = options_.recompute && called.recomputable && called.mutated == 0;
  for (TensorId output : graph_.outputs_of(op)) {
    const StorageId storage = graph_.storage_of(output);
    const bool fresh = graph_.trace.tensors[index(output)].alias_of == kFresh;
    if (fresh) {
      graph_.storages.push_back({.size = graph_.trace.storages[index(storage)].size});
      graph_[storage].root = output;
      places_.push_back(Place::None);
      placed_.push_back(0);
      policy_.declared(storage);
      if (replayable) graph_.extend(storage, op);
    } else if (graph_.trace.views == ViewRule::Rerun && !graph_[storage].recipe.empty()) {
      graph_.extend(storage, op);
    }
    ++graph_[storage].references;
    ++tensors_;
  }
}

std::vector<StorageId> NaiveManager::changed_by(std::uint32_t op) const {
  std::vector<StorageId> changed;
  for (std::uint32_t position : graph_.trace.mutated_by(graph_.trace.ops[op])) {
    const StorageId storage = graph_.storage_of(graph_.inputs_of(op)[position]);
    if (std::ranges::find(changed, storage) == changed.end()) changed.push_back(storage);
  }
  return changed;
}

// Whoever was made from what will change cannot be made again. Those that are there keep their
// bytes; the evicted ones are saved first, or given up with all that was made from them.
void NaiveManager::find_old_readers(const std::vector<StorageId>& changed) {
  const Readers readers = readers_of(changed);
  for (StorageId reader : readers.present) lose_recipe(reader);
  for (StorageId reader : readers.evicted) rescue_.push_back(graph_[reader].root);
  doomed_ = readers.ghosts;
}

// All that was made from these, also by way of what is evicted and referenced by nobody.
NaiveManager::Readers NaiveManager::readers_of(std::vector<StorageId> sources) const {
  Readers found;
  std::set<StorageId> seen;
  while (!sources.empty()) {
    const StorageId source = sources.back();
    sources.pop_back();
    for (StorageId reader : graph_.dependents(source)) {
      if (!seen.insert(reader).second) continue;
      if (graph_[reader].where != Where::Evicted) {
        found.present.push_back(reader);
      } else if (graph_[reader].references != 0) {
        found.evicted.push_back(reader);
      } else {
        found.ghosts.push_back(reader);
        sources.push_back(reader);
      }
    }
  }
  return found;
}

void NaiveManager::make_old_readers_safe() {
  for (TensorId reader : rescue_) {
    ++coverage_.rescues;
    restore(reader, UINT32_MAX);
    lose_recipe(graph_.storage_of(reader));
  }
  rescue_.clear();
  for (StorageId reader : doomed_) {
    ++coverage_.doomed;
    if (graph_[reader].pins != 0)
      lose_recipe(reader);
    else if (graph_[reader].where != Where::Dead)
      kill(reader);
  }
  doomed_.clear();
}

void NaiveManager::change_in_place(std::uint32_t op) {
  const std::vector<StorageId> changed = changed_by(op);
  for (StorageId storage : changed) {
    NaiveStorage& s = graph_[storage];
    ++s.version;
    discard_copy(storage);
    const bool of_this_step = !s.recipe.empty() && s.recipe.front() >= first_op_of_step_;
    const bool replayable = graph_.trace.ops[op].recomputable && changed.size() == 1 &&
                            of_this_step && s.recipe.size() < options_.longest_recipe;
    if (!replayable) {
      lose_recipe(storage);
      continue;
    }
    graph_.extend(storage, op);
    s.done = s.recipe.size();
  }
}

// The event's op never happened: its pins go, its outputs die, nothing stays half restored.
void NaiveManager::give_up(std::string_view why) {
  status_ = why;
  ++(why == "out of budget" ? coverage_.out_of_budget : coverage_.broken_off);
  restoring_ = false;
  delivered_.clear();
  std::vector<StorageId> held;
  for (const Waiting& waiting : waiting_)
    held.insert(held.end(), waiting.held.begin(), waiting.held.end());
  waiting_.clear();
  for (StorageId storage : held) unpin(storage);
  if (first_run_)
    for (TensorId output : graph_.outputs_of(*first_run_)) forget_output(graph_.storage_of(output));
  for (std::uint32_t i = 0; i < graph_.storages.size(); ++i)
    if (graph_.resident(StorageId{i}) && !complete(StorageId{i})) evict(StorageId{i});
  unlist_all();
  bury_orphans();
}

void NaiveManager::forget_output(StorageId storage) {
  --graph_[storage].references;
  settle();
  suspects_.insert(storage);
  if (graph_[storage].where == Where::Pending) kill(storage);
}

Snapshot NaiveManager::snapshot() const {
  Snapshot s{
      .status = std::string{status_}, .used = used(), .clock = clock_, .recompute = recompute_};
  s.evictions = evictions_;
  s.releases = releases_;
  s.recomputes = recomputes_;
  s.offloads = offloads_;
  s.fetches = fetches_;
  s.rerun = rerun_;
  s.freed = freed_;
  s.died = died_;
  std::ranges::sort(s.died);
  s.candidates = candidates_;
  s.spent = spent_;
  for (std::uint32_t i = 0; i < graph_.storages.size(); ++i) {
    s.storages.push_back(line_of(StorageId{i}));
    if (graph_.storages[i].backed) s.in_tier.push_back(StorageId{i});
  }
  for (std::uint32_t i = 0; i < tensors_; ++i) s.available.push_back(available(TensorId{i}));
  return s;
}

StorageLine NaiveManager::line_of(StorageId storage) const {
  const NaiveStorage& from = graph_[storage];
  StorageLine line{.where = static_cast<char>(from.where)};
  if (from.where == Where::Dead) return line;
  line.complete = from.where != Where::Resident || complete(storage);
  line.backed = from.backed;
  line.homeless = from.homeless;
  line.pins = from.pins;
  line.references = from.references;
  line.version = from.version;
  line.awaited = static_cast<std::uint32_t>(std::ranges::count(awaited_, storage));
  line.last_use = from.last_use;
  line.cost = graph_.cost(storage);
  line.recipe = from.recipe;
  line.deps = graph_.deps(storage);
  std::ranges::sort(line.deps);
  return line;
}

}  // namespace weir::twin
