#include "cost/step.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cost/element.h"
#include "cost/fresh.h"
#include "weir/errors.h"

namespace weir::cost {
namespace {

struct Part {  // bytes of a storage
  std::int64_t begin, end;
};

// Where a tensor lies in its storage, if its elements lie without holes.
std::optional<Part> part_of(const Trace& trace, const TraceTensor& tensor) {
  const std::int64_t element = element_bytes(trace.names[tensor.dtype]);
  if (element == 0) return std::nullopt;
  const auto numbers = std::span(trace.geometry).subspan(tensor.geometry, 2 * tensor.rank + 1);
  std::int64_t elements = 1, extent = 1;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) {
    elements *= numbers[i];
    extent += (numbers[i] - 1) * numbers[tensor.rank + i];
  }
  if (elements != extent) return std::nullopt;
  const std::int64_t begin = numbers[2 * tensor.rank] * element;
  return Part{begin, begin + elements * element};
}

class Builder {
 public:
  Builder(const Trace& trace, const StepRange& range, std::span<const OpWork> works)
      : trace_{trace}, range_{range}, works_{works}, fresh_{fresh_pages(trace, range, works)} {}

  Step build() && {
    std::vector<std::uint32_t> ops;
    for (std::size_t i = range_.first; i < range_.end; ++i)
      if (trace_.events[i].kind == EventKind::Op) ops.push_back(trace_.events[i].item);
    for (const std::uint32_t op : ops) place_touches(op);
    make_items();
    for (const std::uint32_t op : ops) add_op(op);
    return std::move(step_);
  }

 private:
  struct Placed {
    std::uint32_t storage;
    Part part;
    bool write;
    std::uint32_t passes, after;
  };

  // A part of a storage is where a tensor of the op lies that has as many bytes, or at the
  // beginning. Of several such tensors the first touch gets the first.
  [[nodiscard]] Part place(const TraceOp& op, const Touch& touch, std::uint32_t skip) const {
    const Bytes size = trace_.storages[index(touch.storage)].size;
    if (touch.bytes >= size) return {0, size.n};
    std::optional<Part> last;
    const auto look = [&](const TraceTensor& tensor) {
      if (tensor.storage != touch.storage || (last && skip == 0)) return;
      const std::optional<Part> part = part_of(trace_, tensor);
      if (!part || part->end - part->begin != touch.bytes.n || part->end > size.n) return;
      if (last) --skip;
      last = part;
    };
    for (const TensorId input : trace_.inputs_of(op)) look(trace_.tensors[index(input)]);
    for (const TraceTensor& output : trace_.outputs_of(op)) look(output);
    return last.value_or(Part{0, touch.bytes.n});
  }

  void place_touches(std::uint32_t number) {
    const std::size_t first = placed_.size();
    for (const Touch& touch : works_[number].touches) {
      if (touch.bytes <= Bytes{0} || touch.passes == 0) continue;
      const auto same = [&](const Placed& other) {
        return other.storage == index(touch.storage) && other.write == touch.write &&
               other.part.end - other.part.begin == touch.bytes.n;
      };
      const auto skip =
          std::count_if(placed_.begin() + static_cast<std::ptrdiff_t>(first), placed_.end(), same);
      const Part part = place(trace_.ops[number], touch, static_cast<std::uint32_t>(skip));
      if (part.begin < part.end)
        placed_.push_back({index(touch.storage), part, touch.write, touch.passes, touch.after});
    }
    ends_.push_back(placed_.size());
  }

  // Cuts every storage where a touch begins or ends.
  void make_items() {
    std::vector<std::pair<std::uint32_t, std::int64_t>> cuts;
    for (const Placed& placed : placed_) {
      cuts.emplace_back(placed.storage, placed.part.begin);
      cuts.emplace_back(placed.storage, placed.part.end);
    }
    std::ranges::sort(cuts);
    cuts.erase(std::ranges::unique(cuts).begin(), cuts.end());
    const std::vector<bool> lasts = lasting();
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const auto [storage, begin] = cuts[i];
      if (cuts[i + 1].first != storage) continue;
      step_.items.push_back({StorageId{storage}, {cuts[i + 1].second - begin}, lasts[storage]});
      starts_.emplace_back(storage, begin);
    }
  }

  // Constants, what was there before the step, what is kept or used after it, or is never let go.
  [[nodiscard]] std::vector<bool> lasting() const {
    std::vector<bool> lasts(trace_.storages.size(), false);
    std::vector<std::int64_t> references(trace_.storages.size(), 0);
    const auto storage = [&](std::uint32_t tensor) {
      return index(trace_.tensors[tensor].storage);
    };
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      const TraceEvent& event = trace_.events[i];
      const bool inside = i >= range_.first && i < range_.end;
      if (event.kind == EventKind::Step) continue;
      if (event.kind == EventKind::Op) {
        const TraceOp& op = trace_.ops[event.item];
        for (const TensorId input : trace_.inputs_of(op))
          if (i >= range_.end) lasts[storage(index(input))] = true;
        for (std::uint32_t out = op.first_output; out < op.first_output + op.outputs; ++out) {
          ++references[storage(out)];
          if (!inside) lasts[storage(out)] = true;
        }
        continue;
      }
      references[storage(event.item)] += event.kind == EventKind::Release ? -1 : 1;
      if (event.kind == EventKind::Constant || event.kind == EventKind::Keep)
        lasts[storage(event.item)] = true;
    }
    for (std::size_t i = 0; i < lasts.size(); ++i)
      if (references[i] > 0) lasts[i] = true;
    return lasts;
  }

  void add_op(std::uint32_t number) {
    const TraceOp& op = trace_.ops[number];
    const OpWork& work = works_[number];
    const auto id = static_cast<std::uint32_t>(step_.ops.size());
    step_.ops.push_back({.name = op.name,
                         .phase = op.phase,
                         .kernel = work.kernel,
                         .dtype = dtype_of(op),
                         .flops = work.flops,
                         .gemms = work.gemms,
                         .cpu = work.cpu,
                         .known = work.known,
                         .fresh = fresh_[number]});
    const std::size_t begin = id == 0 ? 0 : ends_[id - 1];
    const auto touches = std::span(placed_).subspan(begin, ends_[id] - begin);
    std::uint32_t passes = 0;
    for (const Placed& placed : touches) passes = std::max(passes, placed.passes + placed.after);
    for (; passes > 0; --passes) add_sweep(id, touches, passes);
  }

  // What an op touches less often than its other operands it touches in its last passes, unless it
  // says otherwise: results are written once all is known.
  void add_sweep(std::uint32_t op, std::span<const Placed> touches, std::uint32_t left) {
    const auto first = static_cast<std::uint32_t>(step_.accesses.size());
    for (const Placed& placed : touches)
      if (placed.after < left && left <= placed.after + placed.passes) add_accesses(first, placed);
    const auto count = static_cast<std::uint32_t>(step_.accesses.size()) - first;
    step_.sweeps.push_back({op, first, count});
  }

  void add_accesses(std::uint32_t first, const Placed& placed) {
    const std::pair<std::uint32_t, std::int64_t> begin{placed.storage, placed.part.begin};
    auto at = std::ranges::lower_bound(starts_, begin);
    for (; at != starts_.end() && at->first == placed.storage && at->second < placed.part.end;
         ++at) {
      const auto item = static_cast<std::uint32_t>(at - starts_.begin());
      auto found = std::find_if(step_.accesses.begin() + first, step_.accesses.end(),
                                [&](const Access& access) { return access.item == item; });
      if (found == step_.accesses.end()) found = step_.accesses.insert(found, {item});
      (placed.write ? found->write : found->read) = true;
    }
  }

  [[nodiscard]] std::uint32_t dtype_of(const TraceOp& op) const {
    if (op.outputs > 0) return trace_.outputs_of(op)[0].dtype;
    return op.inputs > 0 ? trace_.tensors[index(trace_.inputs_of(op)[0])].dtype : 0;
  }

  const Trace& trace_;
  const StepRange& range_;
  std::span<const OpWork> works_;
  const std::vector<Bytes> fresh_;  // of every op of the trace
  Step step_;
  std::vector<Placed> placed_;     // the touches of all ops
  std::vector<std::size_t> ends_;  // for each op, where its touches end
  std::vector<std::pair<std::uint32_t, std::int64_t>> starts_;  // of each item: storage, first byte
};

}  // namespace

StepRange find_step(const Trace& trace, std::optional<std::uint32_t> number) {
  std::vector<StepRange> steps;
  std::size_t first = 0;
  for (std::size_t i = 0; i < trace.events.size(); ++i)
    if (trace.events[i].kind == EventKind::Step) {
      steps.push_back({first, i});
      first = i + 1;
    }
  if (steps.empty()) steps.push_back({0, trace.events.size()});
  if (!number) return steps.back();
  if (*number == 0 || *number > steps.size())
    throw BadInput(
        fmt::format("the trace has no step {}; give one from 1 to {}", *number, steps.size()));
  return steps[*number - 1];
}

Step step_of(const Trace& trace, const StepRange& range, std::span<const OpWork> works) {
  return Builder{trace, range, works}.build();
}

Step step_of(const Trace& trace, const StepRange& range) {
  std::vector<OpWork> works(trace.ops.size());
  for (std::size_t i = range.first; i < range.end; ++i)
    if (trace.events[i].kind == EventKind::Op) {
      const std::uint32_t op = trace.events[i].item;
      works[op] = work_of(trace, trace.ops[op]);
    }
  return step_of(trace, range, works);
}

}  // namespace weir::cost
