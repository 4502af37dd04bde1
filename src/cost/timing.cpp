#include "cost/timing.h"

#include <algorithm>

namespace weir::cost {
namespace {

std::vector<double> touched_by_op(const Step& step) {
  std::vector<double> touched(step.ops.size(), 0);
  for (const Sweep& sweep : step.sweeps)
    for (const Access& access : step.accesses_of(sweep))
      touched[sweep.op] += static_cast<double>(step.items[access.item].bytes.n) *
                           (access.read && access.write ? 2 : 1);
  return touched;
}

double time_with(double slower, std::span<const OpTime> ops, double latency) {
  double sum = latency * static_cast<double>(ops.size());
  for (const OpTime& op : ops)
    sum += op.before + std::max(op.compute, op.inside + slower * (op.reads + op.writes));
  return sum;
}

}  // namespace

double OpTime::roofline() const { return before + std::max(compute, inside + reads + writes); }

Bound OpTime::bound(Nanos op_latency) const {
  const double moving = inside + reads + writes;
  if (static_cast<double>(op_latency.n) + before > std::max(compute, moving)) return Bound::Latency;
  if (compute >= moving) return Bound::Compute;
  return reads + writes >= inside ? Bound::Memory : Bound::Cache;
}

std::string_view name(Bound bound) {
  constexpr std::string_view kNames[] = {"compute", "memory", "cache", "latency"};
  return kNames[static_cast<std::size_t>(bound)];
}

std::vector<OpTime> op_times(const Trace& trace, const Step& step, const Reuse& reuse,
                             const Tiles* tiles, const Machine& machine) {
  std::vector<OpTime> times(step.ops.size());
  const std::vector<double> touched = touched_by_op(step);
  std::vector<double> wanted = touched;  // of the next larger cache
  for (const CacheLevel& cache : machine.caches) {
    const auto capacity = static_cast<double>(cache.capacity.n);
    std::vector<OpTraffic> moved = traffic_by_op(step, reuse, capacity);
    for (std::uint32_t op = 0; op < times.size(); ++op) {
      if (tiles != nullptr) moved[op].read += tiles->extra(op, capacity);
      const double misses = moved[op].read + moved[op].write;
      times[op].inside += std::max(0.0, wanted[op] - misses) / cache.bytes_per_nano;
      times[op].reads = moved[op].read;
      times[op].writes = moved[op].write;
      wanted[op] = misses;
    }
  }
  for (std::uint32_t op = 0; op < times.size(); ++op) {
    const StepOp& of = step.ops[op];
    const double rate = machine.bytes_per_nano_of(trace.names[of.name]);
    times[op].reads /= rate;
    times[op].writes /= rate;
    times[op].compute =
        machine.compute(of, trace.names[of.name], trace.names[of.dtype], touched[op]);
    times[op].before =
        static_cast<double>(machine.phase_latency[static_cast<std::size_t>(of.phase)].n) +
        static_cast<double>(of.fresh.n) / machine.fresh_bytes_per_nano;
  }
  return times;
}

Timing time_of(std::span<const OpTime> ops, Nanos op_latency, std::uint32_t look_ahead) {
  Timing timing;
  timing.stalls.resize(ops.size());
  std::vector<double> arrived(ops.size());
  const auto latency = static_cast<double>(op_latency.n);
  double now = 0, queue_free = 0;
  std::size_t issued = 0;
  const auto issue_up_to = [&](std::size_t end) {
    for (; issued < std::min(end, ops.size()); ++issued)
      arrived[issued] = queue_free = std::max(queue_free, now) + ops[issued].reads;
  };
  issue_up_to(look_ahead);
  for (std::size_t op = 0; op < ops.size(); ++op) {
    issue_up_to(op + 1);
    timing.stalls[op] = std::max(0.0, arrived[op] - now);
    now += timing.stalls[op];
    issue_up_to(op + 1 + look_ahead);
    now += ops[op].before + std::max(ops[op].compute, ops[op].inside) + latency;
    if (ops[op].writes > 0) queue_free = std::max(queue_free, now) + ops[op].writes;
    timing.computing += ops[op].compute;
    timing.serial += ops[op].roofline() + latency;
  }
  timing.prefetched = std::max(now, queue_free);
  return timing;
}

std::optional<double> bandwidth_for(double time, std::span<const OpTime> ops, Nanos op_latency,
                                    double bytes_per_nano) {
  const auto latency = static_cast<double>(op_latency.n);
  if (time_with(0, ops, latency) > time) return std::nullopt;
  double faster = 0, slower = 1;  // factors on the time of transfers
  while (time_with(slower, ops, latency) <= time && slower < 1e15) slower *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (faster + slower) / 2;
    (time_with(middle, ops, latency) <= time ? faster : slower) = middle;
  }
  if (faster == 0) return std::nullopt;
  return bytes_per_nano / faster;
}

}  // namespace weir::cost
