#include "plan/recorded_run.h"

#include <algorithm>

#include "sim/future.h"
#include "weir/errors.h"

namespace weir::plan::test {
namespace {

constexpr std::int64_t kMostTime = 4;  // times the trace's own

class Recorder final : public Executor {
 public:
  Recorder(const Trace& of, const Problem& seen) : trace{of}, problem{seen} {}
  [[nodiscard]] Nanos now() const override { return run.clock; }
  void evict(StorageId storage) override { run.moves.push_back({Move::Evict, index(storage)}); }
  // The manager leaves out what is dead, or was changed in place and is not what it restores. A
  // schedule says so by evicting it.
  void rejected(std::uint32_t output) override {
    const StorageId storage = trace.tensors[trace.ops[running].first_output + output].storage;
    const auto made = std::ranges::find(problem.values, storage, &Value::storage);
    if (!manager->graph()[storage].resident() && stage <= made->last_remake) evict(storage);
  }

  const Trace& trace;
  const Problem& problem;
  const Manager* manager = nullptr;
  std::uint32_t running = 0;  // the op that was launched last
  Stage stage = 0;
  RecordedRun run = {};
};

class Driver {
 public:
  Driver(const Trace& trace, const Problem& problem, const PolicyEntry& policy, Bytes budget,
         RestoreOrder restore)
      : trace_{trace},
        recorder_{trace, problem},
        future_{trace},
        policy_{policy.make({.seed = 0, .future = &future_})},
        manager_{Options{.budget = budget, .restore = restore, .views = trace.views}, *policy_,
                 recorder_} {
    recorder_.manager = &manager_;
  }

  // False: it took too long.
  bool run() {
    Nanos base;
    for (const TraceOp& op : trace_.ops) base += op.cost;
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      future_.advance(i);
      apply(trace_.events[i]);
      if (recorder_.run.clock.n > kMostTime * base.n) return false;
    }
    recorder_.run.peak = manager_.ledger().peak();
    return true;
  }
  // As it is now: more goes when the run is taken down.
  [[nodiscard]] RecordedRun result() const { return recorder_.run; }

 private:
  void apply(TraceEvent event) {
    const TensorId tensor{event.item};
    switch (event.kind) {
      case EventKind::Constant:
        (void)manager_.add_constant(manager_.allocate(size_of(trace_.tensors[event.item])));
        return;
      case EventKind::Op:
        return run_op(event.item);
      case EventKind::Retain:
        return manager_.retain(tensor);
      case EventKind::Release:
        return manager_.release(tensor);
      case EventKind::Keep: {
        Ticket ticket = manager_.begin_access(tensor);
        restore(ticket);
        kept_.push_back(manager_.end_access(std::move(ticket)));
        return;
      }
      case EventKind::Step:
        return manager_.end_step();
    }
  }

  void run_op(std::uint32_t number) {
    const TraceOp& op = trace_.ops[number];
    Ticket ticket = manager_.begin({.tag = number,
                                    .inputs = trace_.inputs_of(op),
                                    .mutated = trace_.mutated_by(op),
                                    .pure = op.recomputable,
                                    .phase = op.phase});
    std::vector<Output> outputs;
    for (const TraceTensor& output : trace_.outputs_of(op))
      outputs.push_back({.size = size_of(output), .alias_of = output.alias_of});
    (void)manager_.declare(ticket, outputs, op.cost);
    restore(ticket);
    launch(number, ticket);
    recorder_.stage = number + 1;
    manager_.end(std::move(ticket));
  }

  void restore(Ticket& ticket) {
    while (const OpRecord* missing = manager_.next(ticket))
      launch(static_cast<std::uint32_t>(missing->tag), ticket);
  }

  void launch(std::uint32_t number, Ticket& ticket) {
    const std::span<const TraceTensor> outputs = trace_.outputs_of(trace_.ops[number]);
    for (std::uint32_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].alias_of == kFresh) ticket.deliver(i, manager_.allocate(size_of(outputs[i])));
    const Charge scratch = manager_.allocate(trace_.ops[number].scratch);
    recorder_.running = number;
    recorder_.run.moves.push_back({Move::Compute, number});
    recorder_.run.clock += trace_.ops[number].cost;
  }

  [[nodiscard]] Bytes size_of(const TraceTensor& tensor) const {
    return trace_.storages[index(tensor.storage)].size;
  }

  const Trace& trace_;
  Recorder recorder_;
  sim::TraceFuture future_;
  std::unique_ptr<Policy> policy_;
  Manager manager_;
  std::vector<Pin> kept_;
};

}  // namespace

std::optional<RecordedRun> record(const Trace& trace, const Problem& problem,
                                  const PolicyEntry& policy, Bytes budget, RestoreOrder restore) {
  try {
    Driver driver{trace, problem, policy, budget, restore};
    if (driver.run()) return driver.result();
  } catch (const OutOfBudget&) {
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace weir::plan::test
