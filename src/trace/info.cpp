#include "trace/info.h"

#include <algorithm>
#include <tuple>

namespace weir::trace {
namespace {

// Which bytes are in use while the program runs and nothing is reclaimed.
class Liveness {
 public:
  explicit Liveness(const Trace& trace)
      : trace_{trace}, references_(trace.storages.size()), kept_(trace.storages.size()) {}

  void see(const TraceEvent& event) {
    switch (event.kind) {
      case EventKind::Constant:
      case EventKind::Retain:
        return add(event.item);
      case EventKind::Release:
        return remove(event.item);
      case EventKind::Keep:
        kept_[storage(event.item)] = true;
        return;
      case EventKind::Op:
        return add_outputs(trace_.ops[event.item]);
      case EventKind::Step:
        return;
    }
  }
  [[nodiscard]] Bytes peak() const { return peak_; }

 private:
  [[nodiscard]] std::size_t storage(std::uint32_t tensor) const {
    return index(trace_.tensors[tensor].storage);
  }

  void add_outputs(const TraceOp& op) {
    for (std::uint32_t i = 0; i < op.outputs; ++i) add(op.first_output + i);
    peak_ = std::max(peak_, used_ + op.scratch);
  }

  void add(std::uint32_t tensor) {
    std::size_t s = storage(tensor);
    if (references_[s]++ == 0 && !kept_[s]) used_ += trace_.storages[s].size;
    peak_ = std::max(peak_, used_);
  }

  void remove(std::uint32_t tensor) {
    std::size_t s = storage(tensor);
    if (--references_[s] == 0 && !kept_[s]) used_ -= trace_.storages[s].size;
  }

  const Trace& trace_;
  std::vector<std::int64_t> references_;  // of all tensors of a storage together
  std::vector<bool> kept_;
  Bytes used_, peak_;
};

class OpSizes {
 public:
  explicit OpSizes(const Trace& trace)
      : trace_{trace}, last_op_(trace.storages.size()), is_constant_(trace.storages.size()) {
    for (const TraceEvent& event : trace.events)
      if (event.kind == EventKind::Constant)
        is_constant_[index(trace.tensors[event.item].storage)] = true;
  }

  Bytes distinct(const TraceOp& op) {
    Bytes sum = made(op);
    ++now_;
    for (TensorId input : trace_.inputs_of(op)) {
      std::size_t s = index(trace_.tensors[index(input)].storage);
      if (!is_constant_[s] && last_op_[s] != now_) sum += trace_.storages[s].size;
      last_op_[s] = now_;
    }
    return sum;
  }

  [[nodiscard]] Bytes by_argument(const TraceOp& op) const {
    Bytes sum = made(op);
    for (TensorId input : trace_.inputs_of(op)) {
      const TraceTensor& tensor = trace_.tensors[index(input)];
      if (tensor.alias_of == kFresh) sum += trace_.storages[index(tensor.storage)].size;
    }
    return sum;
  }

 private:
  [[nodiscard]] Bytes made(const TraceOp& op) const {
    Bytes sum = op.scratch;
    for (const TraceTensor& out : trace_.outputs_of(op))
      if (out.alias_of == kFresh) sum += trace_.storages[index(out.storage)].size;
    return sum;
  }

  const Trace& trace_;
  std::vector<std::size_t> last_op_;  // when the storage was counted last
  std::vector<bool> is_constant_;
  std::size_t now_ = 0;
};

void count_events(const Trace& trace, Info& info) {
  for (const TraceEvent& event : trace.events) {
    if (event.kind == EventKind::Step) ++info.steps;
    if (event.kind == EventKind::Keep) ++info.keeps;
    if (event.kind != EventKind::Constant) continue;
    ++info.constants;
    info.constant_bytes += trace.storages[index(trace.tensors[event.item].storage)].size;
  }
}

std::vector<NameTotal> totals_by_time(const Trace& trace) {
  std::vector<NameTotal> totals(trace.names.size());
  for (const TraceOp& op : trace.ops) {
    ++totals[op.name].calls;
    totals[op.name].cost += op.cost;
  }
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i].name = trace.names[i];
  std::erase_if(totals, [](const NameTotal& total) { return total.calls == 0; });
  std::ranges::sort(totals, [](const NameTotal& a, const NameTotal& b) {
    return std::tie(b.cost, b.calls, a.name) < std::tie(a.cost, a.calls, b.name);
  });
  return totals;
}

}  // namespace

Nanos base_cost(const Trace& trace) {
  Nanos sum;
  for (const TraceOp& op : trace.ops) sum += op.cost;
  return sum;
}

Bytes liveness_peak(const Trace& trace) {
  Liveness liveness{trace};
  for (const TraceEvent& event : trace.events) liveness.see(event);
  return liveness.peak();
}

Info info_of(const Trace& trace) {
  Info info{.events = trace.events.size(),
            .ops = trace.ops.size(),
            .tensors = trace.tensors.size(),
            .storages = trace.storages.size(),
            .base_cost = base_cost(trace),
            .liveness_peak = liveness_peak(trace),
            .by_time = totals_by_time(trace)};
  info.views = info.tensors - info.storages;  // every other tensor has a storage of its own
  count_events(trace, info);
  OpSizes sizes{trace};
  for (const TraceOp& op : trace.ops) {
    info.mutations += op.mutated > 0 ? 1 : 0;
    info.largest_op = std::max(info.largest_op, sizes.distinct(op));
    info.bottleneck = std::max(info.bottleneck, sizes.by_argument(op));
  }
  return info;
}

}  // namespace weir::trace
