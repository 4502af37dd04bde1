#include "twin/real_run.h"

#include <algorithm>

#include "policy/wrapper.h"
#include "weir/errors.h"

namespace weir::twin {

namespace {

// As it is, but for what it wants to stay free.
class Reserving final : public policy::Wrapper {
 public:
  Reserving(std::unique_ptr<Policy> inner, const Bytes& reserve)
      : Wrapper{std::move(inner)}, reserve_{reserve} {}
  [[nodiscard]] Bytes reserve() const override { return reserve_; }

 private:
  const Bytes& reserve_;
};

}  // namespace

RealRun::RealRun(const Trace& trace, const RunOptions& options)
    : trace_{trace},
      options_{options},
      contents_{trace, options_.disturbances},
      clock_{trace.start} {
  const PolicyEntry& entry = find_policy(options.policy);
  if (entry.oracle) future_.emplace(trace);
  policy_ = entry.make(
      {.seed = options.seed, .future = future_ ? &*future_ : nullptr, .plans = options.plans});
  if (options.wrap != nullptr) policy_ = options.wrap(std::move(policy_));
  policy_ = std::make_unique<Reserving>(std::move(policy_), reserve_);
  manager_.emplace(Options{.budget = options.budget,
                           .deallocation = options.deallocation,
                           .restore = options.restore,
                           .views = trace.views,
                           .longest_recipe = options.longest_recipe,
                           .smallest = options.smallest,
                           .recompute = options.recompute,
                           .offload = options.offload,
                           .reuse_ids = options.reuse_ids,
                           .reserve_one_in = options.reserve_one_in},
                   *policy_, static_cast<Executor&>(*this));
}

void RealRun::apply(std::size_t event) {
  rerun_.clear();
  freed_.clear();
  died_.clear();
  if (future_) future_->advance(event);
  try {
    const std::vector<Disturbance>& all = options_.disturbances;
    while (disturbance_ < all.size() && all[disturbance_].before == event) disturb(disturbance_++);
    run(trace_.events[event]);
  } catch (const OutOfBudget&) {
    status_ = "out of budget";
  } catch (const BrokenOff&) {
    status_ = "broken off";
  }
}

void RealRun::disturb(std::size_t disturbance) {
  const Disturbance& what = options_.disturbances[disturbance];
  switch (what.kind) {
    case Disturbance::Write:
      return write(disturbance);
    case Disturbance::Reclaim:
      manager_->reclaim(what.bytes);
      return;
    case Disturbance::SetBudget:
      return manager_->set_budget(what.bytes);
    case Disturbance::SetReserve:
      reserve_ = what.bytes;
      return;
  }
}

void RealRun::run(TraceEvent event) {
  const TensorId tensor{event.item};
  switch (event.kind) {
    case EventKind::Constant:
      return add_constant(tensor);
    case EventKind::Op:
      return run_op(event.item);
    case EventKind::Retain:
      return manager_->retain(real(tensor));
    case EventKind::Release:
      return manager_->release(real(tensor));
    case EventKind::Keep:
      return keep(tensor);
    case EventKind::Step:
      return manager_->end_step();
  }
}

void RealRun::add_constant(TensorId tensor) {
  const TraceTensor& made = trace_.tensors[index(tensor)];
  tensors_.push_back(manager_->add_constant(manager_->allocate(size_of(made))));
  name(manager_->storage_of(tensors_.back()), made.storage);
  contents_.add_constant(made.storage);
}

void RealRun::run_op(std::uint32_t op) {
  const TraceOp& called = trace_.ops[op];
  std::vector<TensorId> inputs;
  for (TensorId input : trace_.inputs_of(called)) inputs.push_back(real(input));
  Ticket ticket = manager_->begin({.tag = op,
                                   .inputs = inputs,
                                   .mutated = trace_.mutated_by(called),
                                   .pure = called.recomputable});
  std::vector<Output> outputs;
  for (const TraceTensor& output : trace_.outputs_of(called))
    outputs.push_back({.size = size_of(output), .alias_of = output.alias_of});
  const TensorId first = manager_->declare(ticket, outputs, called.cost);
  for (std::uint32_t i = 0; i < outputs.size(); ++i) {
    tensors_.push_back(TensorId{index(first) + i});
    name(ticket.storage(i), trace_.outputs_of(called)[i].storage);
  }
  restore(ticket);
  launch(op, ticket, Run::First);
  for (const TraceTensor& output : trace_.outputs_of(called))
    if (output.alias_of == kFresh) contents_.adopt(output.storage);
  manager_->end(std::move(ticket));
}

void RealRun::keep(TensorId tensor) {
  Ticket ticket = manager_->begin_access(real(tensor));
  restore(ticket);
  kept_.push_back(manager_->end_access(std::move(ticket)));
}

void RealRun::write(std::size_t disturbance) {
  const TensorId tensor = options_.disturbances[disturbance].tensor;
  Ticket ticket = manager_->begin_access(real(tensor), Access::Write);
  restore(ticket);
  const Pin pin = manager_->end_access(std::move(ticket));
  if (!contents_.write(disturbance)) spoiled_.push_back(UINT32_MAX);
}

void RealRun::restore(Ticket& ticket) {
  while (const OpRecord* missing = manager_->next(ticket)) {
    const auto op = static_cast<std::uint32_t>(missing->tag);
    rerun_.push_back(op);
    if (++replays_ > options_.most_replays) throw BrokenOff{};
    launch(op, ticket, Run::Again);
    recompute_ += trace_.ops[op].cost;
  }
}

void RealRun::launch(std::uint32_t op, Ticket& ticket, Run run) {
  const std::span<const TraceTensor> outputs = trace_.outputs_of(trace_.ops[op]);
  std::vector<Charge> unwanted;
  for (std::uint32_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].alias_of != kFresh) continue;
    Charge bytes = manager_->allocate(size_of(outputs[i]));
    if (options_.only_wanted && run == Run::Again && ticket.target(i) == kNoStorage)
      unwanted.push_back(std::move(bytes));
    else
      ticket.deliver(i, std::move(bytes));
  }
  if (!contents_.run(op)) spoiled_.push_back(op);
  clock_ += trace_.ops[op].cost;
}

void RealRun::adopted(StorageId storage, std::uint32_t /*output*/) {
  contents_.adopt(in_trace(storage));
}

void RealRun::evict(StorageId storage) {
  const bool dies = manager_->graph()[storage].where() == Residency::Dead;
  (dies ? died_ : freed_).push_back(in_trace(storage));
  contents_.lose(in_trace(storage));
}

bool RealRun::offload(StorageId storage) {
  const Bytes size = manager_->graph()[storage].size;
  if (tier_used_ + size > options_.tier) return false;
  tier_used_ += size;
  in_tier_.push_back(in_trace(storage));
  contents_.copy_to_tier(in_trace(storage));
  return true;
}

// A copy beside ops is made as late as can be: one of bytes that have changed would be found out.
bool RealRun::begin_offload(StorageId storage) {
  const Bytes size = manager_->graph()[storage].size;
  if (tier_used_ + size > options_.tier) return false;
  tier_used_ += size;
  in_tier_.push_back(in_trace(storage));
  return true;
}

bool RealRun::begin_fetch(StorageId /*storage*/) { return true; }

bool RealRun::copied(StorageId /*storage*/) const { return ++polls_ % 3 == 0; }

bool RealRun::finish_offload(StorageId storage) {
  contents_.copy_to_tier(in_trace(storage));
  ++copies_ahead_;
  if (options_.failing == 0 || copies_ahead_ % options_.failing != 0) return true;
  discard_copy(storage);
  return false;
}

void RealRun::finish_fetch(StorageId storage) {
  ++copies_ahead_;
  if (options_.failing != 0 && copies_ahead_ % options_.failing == 0) throw TierError{"it failed"};
  contents_.copy_back(in_trace(storage));
}

void RealRun::fetch(StorageId storage) { contents_.copy_back(in_trace(storage)); }

void RealRun::discard_copy(StorageId storage) {
  tier_used_ -= manager_->graph()[storage].size;
  std::erase(in_tier_, in_trace(storage));
  contents_.discard_copy(in_trace(storage));
}

Nanos RealRun::transfer_cost(Bytes size) const {
  return {options_.latency.n + size.n * options_.per_byte.n};
}

void RealRun::died(StorageId storage) { storages_[index(in_trace(storage))] = kNoStorage; }

void RealRun::name(StorageId real, StorageId storage) {
  if (storages_.size() <= index(storage)) storages_.resize(index(storage) + 1, kNoStorage);
  if (names_.size() <= index(real)) names_.resize(index(real) + 1, kNoStorage);
  storages_[index(storage)] = real;
  names_[index(real)] = storage;
}

Bytes RealRun::size_of(const TraceTensor& tensor) const {
  return trace_.storages[index(tensor.storage)].size;
}

StorageLine RealRun::line_of(StorageId storage) const {
  const Graph& graph = manager_->graph();
  if (storage == kNoStorage) return {.where = 'D'};
  const Storage& s = graph[storage];
  if (s.where() == Residency::Dead) return {.where = 'D'};
  StorageLine line{.where = "PREOD"[static_cast<std::size_t>(s.where())]};
  line.complete = !s.resident() || s.complete();
  line.backed = s.backed;
  line.homeless = s.homeless;
  line.pins = s.pins;
  line.references = s.references;
  line.version = s.version;
  line.awaited = s.awaited;
  line.last_use = s.last_use;
  line.cost = s.cost;
  for (OpId op : graph.recipe(storage))
    line.recipe.push_back(static_cast<std::uint32_t>(graph[op].tag));
  for (StorageId dep : graph.deps(storage)) line.deps.push_back(in_trace(dep));
  std::ranges::sort(line.deps);
  return line;
}

// In the order in which they came there; the view's, once the manager keeps one.
std::vector<StorageId> RealRun::in_place(Place place) const {
  const Graph& graph = manager_->graph();
  std::vector<StorageId> found;
  if (place == Place::Candidate && manager_->view().candidates != 0) {
    std::ranges::remove_copy(manager_->view().slots, std::back_inserter(found), kNoStorage);
  } else {
    for (std::uint32_t i = 0; i < graph.storages(); ++i)
      if (graph[StorageId{i}].place == place) found.push_back(StorageId{i});
    std::ranges::sort(found, {}, [&](StorageId id) { return graph[id].placed; });
  }
  std::ranges::transform(found, found.begin(), [&](StorageId id) { return in_trace(id); });
  return found;
}

bool RealRun::available(TensorId tensor) const {
  const Graph& graph = manager_->graph();
  if (storages_[index(trace_.tensors[index(tensor)].storage)] == kNoStorage) return false;
  const Tensor& t = graph[real(tensor)];
  const Storage& s = graph[t.storage];
  if (!s.resident()) return false;
  return trace_.views == ViewRule::Keep ? s.complete() : t.defined_at == s.evictions;
}

Snapshot RealRun::snapshot() const {
  const Counters counters = manager_->counters();
  Snapshot s{.status = status_, .used = manager_->ledger().used(), .clock = clock_};
  s.recompute = recompute_;
  s.evictions = counters.evictions;
  s.releases = counters.releases;
  s.recomputes = counters.recomputes;
  s.offloads = counters.offloads;
  s.fetches = counters.fetches;
  s.rerun = rerun_;
  s.freed = freed_;
  s.died = died_;
  s.in_tier = in_tier_;
  std::ranges::sort(s.died);
  std::ranges::sort(s.in_tier);
  s.candidates = in_place(Place::Candidate);
  s.spent = in_place(Place::Spent);
  for (StorageId real : storages_) s.storages.push_back(line_of(real));
  for (std::uint32_t i = 0; i < tensors_.size(); ++i) s.available.push_back(available(TensorId{i}));
  return s;
}

}  // namespace weir::twin
