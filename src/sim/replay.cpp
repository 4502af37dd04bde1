#include "sim/replay.h"

#include <numeric>

#include "base/check.h"
#include "sim/future.h"
#include "sim/paged_memory.h"
#include "weir/errors.h"

namespace weir::sim {

namespace {

class Thrashing {};

class VirtualExecutor final : public Executor {
 public:
  [[nodiscard]] Nanos now() const override { return clock; }
  void evict(StorageId storage) override {
    if (!memory) return;
    if ((*graph)[storage].references == 0) return memory->free(storage);
    memory->evict(storage);
  }
  void adopted(StorageId storage, std::uint32_t output) override {
    if (memory) memory->adopt(storage, output);
  }
  void rejected(std::uint32_t output) override {
    if (memory) memory->reject(output);
  }
  void died(StorageId storage) override {
    if (memory) memory->free(storage);
  }
  // The bytes of an op's output were charged for.
  void make(std::uint32_t output, Bytes size) {
    if (memory) memory->make(output, size);
  }
  void borrow(Bytes scratch) {
    if (memory) memory->borrow(scratch);
  }
  // The op has run.
  void advance(Nanos cost) {
    const Nanos spent = memory ? memory->take_spent() : Nanos{};
    clock += cost + spent;
    pages += spent;
  }

  const Graph* graph = nullptr;
  std::optional<PagedMemory> memory;  // none: it is not known what pages cost
  Nanos clock, pages;
};

class Replay {
 public:
  Replay(const Trace& trace, const PolicyEntry& policy, const ReplayOptions& options)
      : trace_{trace}, options_{options} {
    executor_.clock = trace.start;
    if (policy.oracle) future_.emplace(trace);
    const bool paged = trace.pages != PageCosts{};
    const std::int64_t reserve_one_in = paged ? pages::kReserveOneIn : 0;
    policy_ = policy.make({.seed = options.seed,
                           .future = future_ ? &*future_ : nullptr,
                           .reserve_one_in = reserve_one_in,
                           .plans = options.plans});
    manager_.emplace(Options{.budget = options.budget,
                             .deallocation = options.deallocation,
                             .restore = options.restore,
                             .views = trace.views,
                             .reserve_one_in = reserve_one_in},
                     *policy_, executor_);
    executor_.graph = &manager_->graph();
    if (paged) executor_.memory.emplace(options.budget, trace.pages);
    step_began_ = executor_.clock;
    manager_->reserve(trace.tensors.size(), trace.ops.size());
    for (const TraceOp& op : trace.ops) result_.base += op.cost;
    if (options.limit) most_recompute_ = static_cast<double>(result_.base.n) * (*options.limit - 1);
  }

  ReplayResult run() {
    try {
      for (std::size_t event = 0; event < trace_.events.size(); ++event) {
        if (future_) future_->advance(event);
        apply(trace_.events[event]);
      }
      show(trace_.ops.size());
    } catch (const OutOfBudget& error) {
      result_.status = Status::OutOfBudget;
      result_.need = error.need;
      result_.held = error.held;
    } catch (const Thrashing&) {
      result_.status = Status::Thrash;
    }
    if (result_.status != Status::Ok) result_.stopped_in = running_;
    result_.clock = executor_.clock;
    result_.pages = executor_.pages;
    result_.peak = manager_->ledger().peak();
    result_.budget = options_.budget;
    result_.counters = manager_->counters();
    return result_;
  }

 private:
  void apply(TraceEvent event) {
    const TensorId tensor{event.item};
    switch (event.kind) {
      case EventKind::Constant:
        return add_constant(tensor);
      case EventKind::Op:
        return run_op(trace_.ops[event.item], event.item);
      case EventKind::Retain:
        refuse_dead({&tensor, 1});
        return manager_->retain(tensor);
      case EventKind::Release:
        return manager_->release(tensor);
      case EventKind::Keep:
        return keep(tensor);
      case EventKind::Step:
        return end_step();
    }
  }

  void end_step() {
    manager_->end_step();
    result_.steps.push_back({executor_.clock - step_began_, step_base_});
    step_began_ = executor_.clock;
    step_base_ = {};
  }

  void show(std::uint64_t op) const {
    if (options_.watch) options_.watch(static_cast<std::uint32_t>(op), manager_->graph());
  }

  void add_constant(TensorId tensor) {
    const Bytes size = size_of(trace_.tensors[index(tensor)]);
    running_.reset();
    Charge bytes = manager_->allocate(size);
    executor_.make(0, size);
    const TensorId made = manager_->add_constant(std::move(bytes));
    WEIR_CHECK(made == tensor, made, tensor);
    executor_.adopted(manager_->storage_of(made), 0);
  }

  // Under DTR's rules a program may use what it has released, since it can be recomputed; but not
  // once it died.
  void refuse_dead(std::span<const TensorId> tensors) const {
    if (trace_.views == ViewRule::Keep) return;
    const Graph& graph = manager_->graph();
    for (TensorId tensor : tensors)
      if (graph[graph[tensor].storage].where() == Residency::Dead)
        throw BadInput{trace_.source + ": tensor " + std::to_string(index(tensor)) +
                       " is used after its last release, when it is gone for good; replay with "
                       "eager deallocation and without step marks"};
  }

  void run_op(const TraceOp& op, std::uint64_t tag) {
    show(tag);
    refuse_dead(trace_.inputs_of(op));
    Ticket ticket = manager_->begin({.tag = tag,
                                     .inputs = trace_.inputs_of(op),
                                     .mutated = trace_.mutated_by(op),
                                     .pure = op.recomputable,
                                     .phase = op.phase,
                                     .kind = op.name});
    outputs_.clear();
    for (const TraceTensor& output : trace_.outputs_of(op))
      outputs_.push_back({.size = size_of(output), .alias_of = output.alias_of});
    const TensorId first = manager_->declare(ticket, outputs_, op.cost);
    WEIR_CHECK(op.outputs == 0 || index(first) == op.first_output, first, op.first_output);
    restore(ticket);
    launch(op, ticket);
    for (std::uint32_t i = 0; i < op.outputs; ++i)
      if (outputs_[i].alias_of == kFresh) executor_.adopted(ticket.storage(i), i);
    step_base_ += op.cost;
    manager_->end(std::move(ticket), op.scratch);
  }

  void keep(TensorId tensor) {
    refuse_dead({&tensor, 1});
    Ticket ticket = manager_->begin_access(tensor);
    restore(ticket);
    kept_.push_back(manager_->end_access(std::move(ticket)));
  }

  void restore(Ticket& ticket) {
    while (const OpRecord* missing = manager_->next(ticket)) {
      const TraceOp& op = trace_.ops[missing->tag];
      launch(op, ticket);
      result_.recompute += op.cost;
      if (options_.limit && static_cast<double>(result_.recompute.n) > most_recompute_)
        throw Thrashing{};
    }
  }

  void launch(const TraceOp& op, Ticket& ticket) {
    running_ = static_cast<std::uint32_t>(&op - trace_.ops.data());
    const std::span<const TraceTensor> outputs = trace_.outputs_of(op);
    for (std::uint32_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].alias_of != kFresh) continue;
      ticket.deliver(i, manager_->allocate(size_of(outputs[i])));
      executor_.make(i, size_of(outputs[i]));
    }
    if (op.scratch > Bytes{0}) {
      const Charge scratch = manager_->allocate(op.scratch);
      executor_.borrow(op.scratch);
    }
    executor_.advance(op.cost);
  }

  [[nodiscard]] Bytes size_of(const TraceTensor& tensor) const {
    return trace_.storages[index(tensor.storage)].size;
  }

  const Trace& trace_;
  const ReplayOptions& options_;
  VirtualExecutor executor_;
  std::optional<TraceFuture> future_;
  std::unique_ptr<Policy> policy_;
  std::optional<Manager> manager_;
  std::vector<Pin> kept_;
  std::vector<Output> outputs_;
  double most_recompute_ = 0;
  std::optional<std::uint32_t> running_;  // the op that ran last, or runs now
  Nanos step_began_, step_base_;
  ReplayResult result_;
};

}  // namespace

std::string_view name(Status status) {
  switch (status) {
    case Status::Ok:
      return "ok";
    case Status::OutOfBudget:
      return "out_of_budget";
    case Status::Thrash:
      return "thrash";
  }
  return "";
}

ReplayResult replay(const Trace& trace, const PolicyEntry& policy, const ReplayOptions& options) {
  return Replay{trace, policy, options}.run();
}

}  // namespace weir::sim
