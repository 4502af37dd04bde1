#include "twin/real_run.h"

#include <algorithm>

#include "weir/errors.h"

namespace weir::twin {

RealRun::RealRun(const Trace& trace, const RunOptions& options)
    : trace_{trace}, options_{options}, contents_{trace}, clock_{trace.start} {
  const PolicyEntry& entry = find_policy(options.policy);
  if (entry.oracle) future_.emplace(trace);
  policy_ = entry.make({.seed = options.seed, .future = future_ ? &*future_ : nullptr});
  if (options.wrap != nullptr) policy_ = options.wrap(std::move(policy_));
  manager_.emplace(Options{.budget = options.budget,
                           .deallocation = options.deallocation,
                           .restore = options.restore,
                           .views = trace.views,
                           .longest_recipe = options.longest_recipe},
                   *policy_, static_cast<Executor&>(*this));
}

void RealRun::apply(std::size_t event) {
  rerun_.clear();
  freed_.clear();
  if (future_) future_->advance(event);
  try {
    run(trace_.events[event]);
  } catch (const OutOfBudget&) {
    status_ = "out of budget";
  } catch (const BrokenOff&) {
    status_ = "broken off";
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
      return manager_->retain(tensor);
    case EventKind::Release:
      return manager_->release(tensor);
    case EventKind::Keep:
      return keep(tensor);
    case EventKind::Step:
      return manager_->end_step();
  }
}

void RealRun::add_constant(TensorId tensor) {
  const TraceTensor& made = trace_.tensors[index(tensor)];
  manager_->add_constant(manager_->allocate(size_of(made)));
  contents_.add_constant(made.storage);
}

void RealRun::run_op(std::uint32_t op) {
  const TraceOp& called = trace_.ops[op];
  Ticket ticket = manager_->begin({.tag = op,
                                   .inputs = trace_.inputs_of(called),
                                   .mutated = trace_.mutated_by(called),
                                   .pure = called.recomputable});
  std::vector<Output> outputs;
  for (const TraceTensor& output : trace_.outputs_of(called))
    outputs.push_back({.size = size_of(output), .alias_of = output.alias_of});
  manager_->declare(ticket, outputs, called.cost);
  restore(ticket);
  launch(op, ticket);
  manager_->end(std::move(ticket));
  contents_.adopt(manager_->graph());
}

void RealRun::keep(TensorId tensor) {
  Ticket ticket = manager_->begin_access(tensor);
  restore(ticket);
  kept_.push_back(manager_->end_access(std::move(ticket)));
}

void RealRun::restore(Ticket& ticket) {
  while (const OpRecord* missing = manager_->next(ticket)) {
    contents_.adopt(manager_->graph());
    const auto op = static_cast<std::uint32_t>(missing->tag);
    rerun_.push_back(op);
    if (++replays_ > options_.most_replays) throw BrokenOff{};
    launch(op, ticket);
    recompute_ += trace_.ops[op].cost;
  }
  contents_.adopt(manager_->graph());
}

void RealRun::launch(std::uint32_t op, Ticket& ticket) {
  const std::span<const TraceTensor> outputs = trace_.outputs_of(trace_.ops[op]);
  for (std::uint32_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].alias_of == kFresh) ticket.deliver(i, manager_->allocate(size_of(outputs[i])));
  if (!contents_.run(op, manager_->graph())) spoiled_.push_back(op);
  clock_ += trace_.ops[op].cost;
}

void RealRun::evict(StorageId storage) {
  freed_.push_back(storage);
  contents_.lose(storage);
}

Bytes RealRun::size_of(const TraceTensor& tensor) const {
  return trace_.storages[index(tensor.storage)].size;
}

StorageLine RealRun::line_of(StorageId storage) const {
  const Graph& graph = manager_->graph();
  const Storage& s = graph[storage];
  StorageLine line{.where = "PRED"[static_cast<std::size_t>(s.where())]};
  line.complete = !s.resident() || s.complete();
  line.pins = s.pins;
  line.references = s.references;
  line.version = s.version;
  line.awaited = s.awaited;
  line.last_use = s.last_use;
  line.cost = s.cost;
  for (OpId op : graph.recipe(storage))
    line.recipe.push_back(static_cast<std::uint32_t>(graph[op].tag));
  for (StorageId dep : graph.deps(storage)) line.deps.push_back(dep);
  std::ranges::sort(line.deps);
  return line;
}

std::vector<StorageId> RealRun::in_place(Place place) const {
  const Graph& graph = manager_->graph();
  std::vector<StorageId> found;
  for (std::uint32_t i = 0; i < graph.storages(); ++i)
    if (graph[StorageId{i}].place == place) found.push_back(StorageId{i});
  std::ranges::sort(found, {}, [&](StorageId id) { return graph[id].slot; });
  return found;
}

Snapshot RealRun::snapshot() const {
  const Graph& graph = manager_->graph();
  const Counters counters = manager_->counters();
  Snapshot s{.status = status_, .used = manager_->ledger().used(), .clock = clock_};
  s.recompute = recompute_;
  s.evictions = counters.evictions;
  s.releases = counters.releases;
  s.recomputes = counters.recomputes;
  s.rerun = rerun_;
  s.freed = freed_;
  s.candidates = in_place(Place::Candidate);
  s.spent = in_place(Place::Spent);
  for (std::uint32_t i = 0; i < graph.storages(); ++i) s.storages.push_back(line_of(StorageId{i}));
  for (std::uint32_t i = 0; i < graph.tensors(); ++i) {
    const Tensor& tensor = graph[TensorId{i}];
    const Storage& storage = graph[tensor.storage];
    const bool defined = trace_.views == ViewRule::Keep ? storage.complete()
                                                        : tensor.defined_at == storage.evictions;
    s.available.push_back(storage.resident() && defined);
  }
  return s;
}

}  // namespace weir::twin
