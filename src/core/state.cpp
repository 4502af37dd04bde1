#include "core/state.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "weir/errors.h"

namespace weir::core {

namespace {
constexpr std::size_t kLongestSearch = 1024;
}  // namespace

State::State(const Options& chosen, Policy& policy, Executor& executor)
    : options{chosen},
      graph{chosen.reuse_ids},
      ledger{chosen.budget},
      policy_{policy},
      executor_{executor},
      frugal_{chosen.restore == RestoreOrder::Lean && policy.counts_lineage()},
      restore_{make_restore_steps(chosen.restore)} {}

bool State::available(TensorId tensor) const {
  const Tensor& t = graph[tensor];
  const Storage& s = graph[t.storage];
  if (!s.resident()) return false;
  return options.views == ViewRule::Keep ? s.complete() : t.defined_at == s.evictions;
}

bool State::ready(TensorId tensor, OpId op) const {
  if (available(tensor)) return true;
  const StorageId id = graph[tensor].storage;
  const Storage& s = graph[id];
  return options.views == ViewRule::Keep && s.resident() && graph.recipe(id)[s.progress] == op;
}

OpId State::op_to_restore(TensorId tensor) const {
  const Tensor& t = graph[tensor];
  if (options.views == ViewRule::Rerun) return t.op;
  const Storage& s = graph[t.storage];
  WEIR_CHECK(s.has_recipe(), t.storage, s.where());
  return graph.recipe(t.storage)[s.resident() ? s.progress : 0];
}

View State::view() const {
  return {.graph = graph,
          .now = now(),
          .slots = pool_.slots(),
          .candidates = pool_.size(),
          .used = ledger.used(),
          .budget = ledger.budget(),
          .offload = options.offload,
          .spent = spent_time_};
}

void State::note(StorageId storage, Change change) {
  if ((awake_ || !policy_.catches_up()) && policy_.wants(change))
    policy_.note(graph, storage, change);
}

bool State::evictable(const Storage& s) const {
  return s.resident() && s.pins == 0 && s.has_recipe() && s.complete();
}

Place State::place_of(const Storage& s) const {
  const bool spent = s.references == 0 && s.awaited == 0 && !s.kept && s.size > Bytes{};
  if (evictable(s)) {
    if (spent && frugal_) return Place::Spent;
  } else if (!options.offload || s.homeless || !s.resident() || s.pins != 0 || !s.complete()) {
    return Place::None;
  }
  return s.size < options.smallest ? Place::None : Place::Candidate;
}

// Puts a storage among the candidates, the spent, or neither, after something it depends on
// changed. Until something has to be reclaimed for the first time only the order is kept.
void State::place(StorageId storage) {
  Storage& s = graph[storage];
  s.kept = s.references == 0 && s.resident() && policy_.keeps(storage);
  const Place next = place_of(s);
  if (next == s.place) return;
  if (awake_ && s.place == Place::Candidate) {
    pool_.remove(graph, storage);
    note(storage, Change::Withdrawn);
  } else if (awake_ && s.place == Place::Spent) {
    spent_.remove(graph, storage);
  }
  s.place = next;
  s.placed = ++placings_;
  if (awake_) enter(storage);
}

void State::enter(StorageId storage) {
  if (graph[storage].place == Place::Candidate) {
    pool_.add(graph, storage);
    note(storage, Change::Offered);
  } else if (graph[storage].place == Place::Spent) {
    spent_.add(graph, storage);
  }
}

// A policy that can hears now of everything that it missed.
void State::wake() {
  if (awake_) return;
  awake_ = true;
  std::vector<StorageId> placed;
  for (std::uint32_t i = 0; i < graph.storages(); ++i) {
    const StorageId storage{i};
    const Storage& s = graph[storage];
    if (s.where() == Residency::Dead) continue;
    if (policy_.catches_up()) note(storage, Change::Declared);
    if (policy_.catches_up() && s.where() != Residency::Pending) note(storage, Change::Restored);
    if (s.place != Place::None) placed.push_back(storage);
  }
  for (std::uint32_t i = 0; policy_.catches_up() && i < graph.storages(); ++i)
    if (graph[StorageId{i}].where() == Residency::Evicted) note(StorageId{i}, Change::Evicted);
  std::ranges::sort(placed, {}, [&](StorageId storage) { return graph[storage].placed; });
  for (StorageId storage : placed) enter(storage);
}

// A candidate, or what is too small for one, may turn out to be spent.
void State::become_frugal() {
  if (frugal_ || options.restore != RestoreOrder::Lean) return;
  frugal_ = true;
  std::vector<StorageId> found;
  for (std::uint32_t i = 0; i < graph.storages(); ++i)
    if (place_of(graph[StorageId{i}]) == Place::Spent) found.push_back(StorageId{i});
  std::ranges::sort(found, {}, [&](StorageId storage) { return graph[storage].placed; });
  for (StorageId storage : found) place(storage);
}

void State::await(StorageId storage) {
  if (graph[storage].awaited++ == 0) place(storage);
}

void State::stop_awaiting(StorageId storage) {
  if (--graph[storage].awaited != 0) return;
  place(storage);
  suspect(storage);
}

void State::pin(StorageId storage) {
  Storage& s = graph[storage];
  WEIR_CHECK(s.resident(), storage, s.where());
  if (s.pins++ == 0) place(storage);
}

void State::unpin(StorageId storage) {
  Storage& s = graph[storage];
  WEIR_CHECK(s.pins > 0, storage);
  if (--s.pins != 0) return;
  place(storage);
  if (s.references == 0) suspect(storage);
}

void State::drop(OpId op) {
  const std::uint64_t tag = graph[op].tag;
  if (graph.drop(op)) executor_.forget(tag);
}

std::vector<TensorId> State::retain_evicted() {
  std::vector<TensorId> evicted;
  for (std::uint32_t i = 0; i < graph.tensors(); ++i) {
    const Tensor& tensor = graph[TensorId{i}];
    if (tensor.references == 0) continue;
    if (graph[tensor.storage].where() == Residency::Evicted) evicted.push_back(TensorId{i});
  }
  for (TensorId tensor : evicted) retain(tensor);
  return evicted;
}

void State::fetch(StorageId storage) {
  if (graph[storage].arriving && receive(storage)) return;
  Charge bytes = charge(graph[storage].size);
  executor_.fetch(storage);
  Storage& s = graph[storage];
  charges_[index(storage)] = std::move(bytes);
  s.move_to(Residency::Resident);
  ++counters.fetches;
  place(storage);
}

void State::discard_copy(StorageId storage) {
  Storage& s = graph[storage];
  const bool saving = std::exchange(s.saving, false);
  if (!std::exchange(s.backed, false) && !saving) return;
  executor_.discard_copy(storage);
  find_homes();
}

// A tier has room again. Whoever finds some comes last, also among those that were candidates
// because they could be recomputed.
void State::find_homes() {
  const std::vector<StorageId> homeless = std::exchange(homeless_, {});
  for (StorageId storage : homeless) {
    Storage& s = graph[storage];
    s.homeless = false;
    if (s.place != Place::Candidate) {
      place(storage);
      continue;
    }
    s.placed = ++placings_;
    if (!awake_) continue;
    pool_.remove(graph, storage);
    pool_.add(graph, storage);
  }
}

double State::price(StorageId storage) {
  seen_.clear(graph.storages());
  Nanos cost = graph[storage].cost;
  std::vector<StorageId>& work = search_;
  work.assign(1, storage);
  for (std::size_t visited = 0; !work.empty() && visited < kLongestSearch; ++visited) {
    const StorageId at = work.back();
    work.pop_back();
    for (StorageId dep : graph.deps(at)) {
      if (graph[dep].resident() || !seen_.insert(dep)) continue;
      const bool offloaded = graph[dep].where() == Residency::Offloaded;
      cost += offloaded ? executor_.transfer_cost(graph[dep].size) : graph[dep].cost;
      if (!offloaded) work.push_back(dep);
    }
  }
  return static_cast<double>(cost.n) /
         static_cast<double>(std::max<std::int64_t>(1, graph[storage].size.n));
}

void State::free_bytes(StorageId storage, Residency next) {
  Storage& s = graph[storage];
  s.move_to(next);
  place(storage);
  if (next != Residency::Offloaded) ++s.evictions;
  charges_[index(storage)] = Charge{};
  executor_.evict(storage);
}

void State::evict(StorageId storage) {
  WEIR_CHECK(graph[storage].pins == 0 && graph[storage].has_recipe(), storage);
  if (graph[storage].backed) return free_bytes(storage, Residency::Offloaded);
  discard_copy(storage);
  free_bytes(storage, Residency::Evicted);
  note(storage, Change::Evicted);
}

void State::lose_recipe(StorageId storage) {
  if (!graph[storage].has_recipe()) return;
  const std::span<const OpId> recipe = graph.recipe(storage);
  const std::vector<OpId> ops(recipe.begin(), recipe.end());
  suspect(storage);
  for (StorageId dep : graph.deps(storage)) suspect(dep);
  graph.forget_recipe(storage);
  for (OpId op : ops) drop(op);
  if (options.offload) graph[storage].cost = executor_.transfer_cost(graph[storage].size);
  place(storage);
  note(storage, Change::Lost);
}

void State::kill(StorageId storage) {
  note(storage, Change::Died);
  if (graph[storage].arriving) cancel_arrival(storage);
  if (graph[storage].resident())
    free_bytes(storage, Residency::Dead);
  else
    graph[storage].move_to(Residency::Dead);
  if (std::exchange(graph[storage].homeless, false)) std::erase(homeless_, storage);
  discard_copy(storage);
  lose_recipe(storage);
  if (options.reuse_ids) graves_.push_back(storage);
}

TensorId State::add_constant(Charge bytes, const Manager::Named& named) {
  const OpId op = graph.add_op(0, false, {});
  const StorageId storage = graph.add_storage(bytes.size());
  charges_.resize(graph.storages());
  charges_[index(storage)] = std::move(bytes);
  graph.begin_outputs(op, 1);
  const TensorId tensor = graph.add_output(op, storage, true);
  graph.drop(op);
  Storage& s = graph[storage];
  s.move_to(Residency::Resident);
  s.last_use = now();
  s.references = graph[tensor].references = 1;
  graph[tensor].defined_at = s.evictions;
  if (options.offload) s.cost = executor_.transfer_cost(s.size);
  policy_.add_constant(graph, storage);
  note(storage, Change::Declared);
  note(storage, Change::Restored);
  if (named) named(tensor, storage);
  place(storage);
  return tensor;
}

Job& State::new_job() {
  if (idle_jobs_.empty()) {
    jobs_.push_back(std::make_unique<Job>());
    return *jobs_.back();
  }
  Job* job = idle_jobs_.back();
  idle_jobs_.pop_back();
  return *job;
}

void State::recycle(Job& job) {
  restore_->finish(*this, job);
  for (const Frame& frame : job.stack)
    if (frame.kind == Frame::Replay) drop(frame.op);
  if (job.op != kNoOp) drop(job.op);
  job.op = kNoOp;
  if (std::exchange(job.waits, false)) --restorers_;
  job.declared = job.launched = false;
  job.mutated.clear();
  job.rescue.clear();
  job.doomed.clear();
  job.delivered.clear();
  job.storages.clear();
  job.targets.clear();
  job.stack.clear();
  job.missing.clear();
  job.pins.clear();
  idle_jobs_.push_back(&job);
}

}  // namespace weir::core
