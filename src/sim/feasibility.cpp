#include "sim/feasibility.h"

#include <algorithm>
#include <vector>

#include "trace/info.h"

namespace weir::sim {

namespace {

// The bytes that nothing can take away at an event.
class Needs {
 public:
  explicit Needs(const Trace& trace) : trace_{trace}, storages_(trace.storages.size()) {}

  Bytes after(const TraceEvent& event) {
    switch (event.kind) {
      case EventKind::Constant:
        storages_[storage(event.item)].constant = true;
        [[fallthrough]];
      case EventKind::Retain:
        add_reference(event.item);
        break;
      case EventKind::Release:
        remove_reference(event.item);
        break;
      case EventKind::Keep:
        keep(storage(event.item));
        break;
      case EventKind::Op:
        return run(trace_.ops[event.item]);
      case EventKind::Step:
        break;
    }
    return held_;
  }

 private:
  struct State {
    std::int64_t references = 0;
    std::size_t counted_for = 0;  // the last op that read it
    bool constant = false, kept = false;

    [[nodiscard]] bool held() const { return kept || (constant && references > 0); }
  };

  [[nodiscard]] std::size_t storage(std::uint32_t tensor) const {
    return index(trace_.tensors[tensor].storage);
  }

  void add_reference(std::uint32_t tensor) {
    State& state = storages_[storage(tensor)];
    const bool was_held = state.held();
    ++state.references;
    if (!was_held && state.held()) held_ += trace_.storages[storage(tensor)].size;
  }

  void remove_reference(std::uint32_t tensor) {
    State& state = storages_[storage(tensor)];
    const bool was_held = state.held();
    --state.references;
    if (was_held && !state.held()) held_ -= trace_.storages[storage(tensor)].size;
  }

  void keep(std::size_t at) {
    if (!storages_[at].held()) held_ += trace_.storages[at].size;
    storages_[at].kept = true;
  }

  Bytes run(const TraceOp& op) {
    Bytes sum = held_ + op.scratch;
    ++ops_;
    for (TensorId input : trace_.inputs_of(op)) {
      const std::size_t at = storage(index(input));
      if (!storages_[at].held() && storages_[at].counted_for != ops_)
        sum += trace_.storages[at].size;
      storages_[at].counted_for = ops_;
    }
    for (std::uint32_t i = 0; i < op.outputs; ++i) {
      const TraceTensor& output = trace_.tensors[op.first_output + i];
      if (output.alias_of == kFresh) sum += trace_.storages[index(output.storage)].size;
      add_reference(op.first_output + i);
    }
    return sum;
  }

  const Trace& trace_;
  std::vector<State> storages_;
  Bytes held_;
  std::size_t ops_ = 0;
};

}  // namespace

Bytes floor_of(const Trace& trace) {
  Needs needs{trace};
  Bytes most;
  for (const TraceEvent& event : trace.events) most = std::max(most, needs.after(event));
  return most;
}

std::vector<Bytes> budgets_from_floor(Bytes floor, Bytes peak, double step) {
  std::vector<Bytes> budgets{{std::max<std::int64_t>(floor.n, 1)}};
  const double unit = step * static_cast<double>(peak.n);
  const double most = 2.0 * static_cast<double>(peak.n);
  for (double k = 1; unit > 0 && k * unit <= most; ++k) {
    const Bytes budget{static_cast<std::int64_t>(k * unit)};
    if (budget > budgets.back()) budgets.push_back(budget);
  }
  return budgets;
}

std::optional<ReplayResult> smallest_that_finishes(const Trace& trace, const PolicyEntry& policy,
                                                   const ReplayOptions& options,
                                                   std::span<const Bytes> budgets) {
  ReplayOptions tried = options;
  for (const Bytes budget : budgets) {
    tried.budget = budget;
    ReplayResult result = replay(trace, policy, tried);
    if (result.status == Status::Ok) return result;
  }
  return std::nullopt;
}

std::vector<Smallest> smallest_budgets(std::span<const Trace> traces, const SweepOptions& options,
                                       double step, const Progress& progress) {
  std::vector<std::vector<Bytes>> budgets;  // by trace
  for (const Trace& trace : traces)
    budgets.push_back(budgets_from_floor(floor_of(trace), trace::liveness_peak(trace), step));
  std::vector<Smallest> all;
  for (const Case& of : cases_of(traces.size(), options)) all.push_back({of, std::nullopt});
  const auto find = [&](std::size_t at) {
    const Case& of = all[at].of;
    all[at].run = smallest_that_finishes(traces[of.trace], *of.policy,
                                         {.budget = {},
                                          .deallocation = of.deallocation,
                                          .restore = of.restore,
                                          .seed = options.first_seed,
                                          .limit = options.limit},
                                         budgets[of.trace]);
  };
  run_parallel(all.size(), options.jobs, find, progress);
  return all;
}

}  // namespace weir::sim
