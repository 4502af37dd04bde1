#include "core/state.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "weir/errors.h"

namespace weir::core {

namespace {
constexpr double kAnyPrice = std::numeric_limits<double>::infinity();
constexpr std::size_t kLongestSearch = 1024;
}  // namespace

State::State(const Options& chosen, Policy& policy, Executor& executor)
    : options{chosen},
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
  return {.graph = graph, .now = now(), .slots = pool_.slots(), .candidates = pool_.size()};
}

void State::note(StorageId storage, Change change) {
  if (policy_.wants(change)) policy_.note(graph, storage, change);
}

Place State::place_of(const Storage& s) const {
  if (!s.resident() || s.pins != 0 || !s.has_recipe() || !s.complete()) return Place::None;
  const bool spent = s.references == 0 && s.awaited == 0 && s.size > Bytes{};
  return spent && frugal_ ? Place::Spent : Place::Candidate;
}

// Puts a storage among the candidates, the spent, or neither, after something it depends on
// changed.
void State::place(StorageId storage) {
  Storage& s = graph[storage];
  const Place next = place_of(s);
  if (next == s.place) return;
  if (s.place == Place::Candidate) {
    pool_.remove(graph, storage);
    note(storage, Change::Withdrawn);
  } else if (s.place == Place::Spent) {
    spent_.remove(graph, storage);
  }
  s.place = next;
  if (next == Place::Candidate) {
    pool_.add(graph, storage);
    note(storage, Change::Offered);
  } else if (next == Place::Spent) {
    spent_.add(graph, storage);
  }
}

// A candidate may turn out to be spent.
void State::become_frugal() {
  if (frugal_ || options.restore != RestoreOrder::Lean) return;
  frugal_ = true;
  const std::vector<StorageId> candidates(pool_.slots().begin(), pool_.slots().end());
  for (StorageId storage : candidates)
    if (storage != kNoStorage) place(storage);
}

void State::await(StorageId storage) {
  if (graph[storage].awaited++ == 0) place(storage);
}

void State::stop_awaiting(StorageId storage) {
  if (--graph[storage].awaited == 0) place(storage);
}

void State::pin(StorageId storage) {
  Storage& s = graph[storage];
  WEIR_CHECK(s.resident(), storage, s.where());
  if (s.pins++ == 0) place(storage);
}

void State::unpin(StorageId storage) {
  Storage& s = graph[storage];
  WEIR_CHECK(s.pins > 0, storage);
  if (--s.pins == 0) place(storage);
}

Charge State::charge(Bytes size) {
  for (;;) {
    if (std::optional<Charge> charge = ledger.try_charge(size)) return std::move(*charge);
    reclaim_one(size);
  }
}

void State::reclaim_one(Bytes need) {
  if (spent_.size() != 0) return reclaim(spent_.last());
  std::optional<Choice> choice;
  if (pool_.size() != 0) choice = policy_.choose(view(), need);
  counters.scored = policy_.scored();
  if (!choice) become_frugal();
  if (spent_.size() != 0) return reclaim(spent_.last());
  if (restoring_ != nullptr && frugal_) {
    const double dearest = choice ? price(choice->victim) : kAnyPrice;
    if (const StorageId held = restore_->give_way(*this, *restoring_, dearest); held != kNoStorage)
      return reclaim(held);
  }
  if (!choice) throw OutOfBudget{need, ledger.budget(), ledger.used()};
  WEIR_CHECK(graph[choice->victim].place == Place::Candidate, choice->victim);
  reclaim(choice->victim);
}

void State::reclaim(StorageId storage) {
  ++counters.evictions;
  evict(storage);
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
      cost += graph[dep].cost;
      work.push_back(dep);
    }
  }
  return static_cast<double>(cost.n) /
         static_cast<double>(std::max<std::int64_t>(1, graph[storage].size.n));
}

void State::free_bytes(StorageId storage, Residency next) {
  Storage& s = graph[storage];
  s.move_to(next);
  place(storage);
  ++s.evictions;
  charges_[index(storage)] = Charge{};
  executor_.evict(storage);
}

void State::evict(StorageId storage) {
  WEIR_CHECK(graph[storage].pins == 0 && graph[storage].has_recipe(), storage);
  free_bytes(storage, Residency::Evicted);
  note(storage, Change::Evicted);
}

void State::lose_recipe(StorageId storage) {
  if (!graph[storage].has_recipe()) return;
  graph.forget_recipe(storage);
  place(storage);
  note(storage, Change::Lost);
}

void State::kill(StorageId storage) {
  if (graph[storage].resident())
    free_bytes(storage, Residency::Dead);
  else
    graph[storage].move_to(Residency::Dead);
  lose_recipe(storage);
}

TensorId State::add_constant(Charge bytes) {
  const OpId op = graph.add_op(0, false, {});
  const StorageId storage = graph.add_storage(bytes.size());
  charges_.emplace_back(std::move(bytes));
  living_.push_back(storage);
  const TensorId tensor = graph.add_output(op, storage, true);
  Storage& s = graph[storage];
  s.move_to(Residency::Resident);
  s.last_use = now();
  s.references = graph[tensor].references = 1;
  graph[tensor].defined_at = s.evictions;
  note(storage, Change::Declared);
  note(storage, Change::Restored);
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
  job.op = kNoOp;
  job.declared = job.launched = false;
  job.mutated.clear();
  job.rescue.clear();
  job.doomed.clear();
  job.delivered.clear();
  job.stack.clear();
  job.missing.clear();
  job.pins.clear();
  idle_jobs_.push_back(&job);
}

}  // namespace weir::core
