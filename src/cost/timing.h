#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cost/machine.h"
#include "cost/reuse.h"
#include "cost/step.h"
#include "cost/tiles.h"
#include "weir/trace.h"

namespace weir::cost {

// What decides how long an op takes.
enum class Bound : std::uint8_t { Compute, Memory, Cache, Latency };
[[nodiscard]] std::string_view name(Bound bound);

// What an op asks of a machine. In nanoseconds, with fractions.
struct OpTime {
  double compute = 0;            // its FLOPs
  double inside = 0;             // moving what it finds in the caches
  double reads = 0, writes = 0;  // moving from and to memory
  double before = 0;             // before any of it: its phase's latency, and pages that are new

  // By the roofline: all at the same time, so the slowest decides.
  [[nodiscard]] double roofline() const;
  // The largest of what adds up to its time; of equal ones, the first of Bound. What comes before
  // it counts as latency.
  [[nodiscard]] Bound bound(Nanos op_latency) const;
};

// `tiles` null: operands pass once.
[[nodiscard]] std::vector<OpTime> op_times(const Trace& trace, const Step& step, const Reuse& reuse,
                                           const Tiles* tiles, const Machine& machine);

struct Timing {
  double serial = 0;           // op by op, each at its roofline
  double prefetched = 0;       // with a queue of transfers
  double computing = 0;        // of these, the units compute
  std::vector<double> stalls;  // of each op, with the queue: how long it waits for its operands
};

// With a queue, an op's operands may be on their way from when the op `look_ahead` before it began,
// in order, one after the other; an op begins when its operands are there and the one before it is
// done; what it writes back joins the queue at its end.
[[nodiscard]] Timing time_of(std::span<const OpTime> ops, Nanos op_latency,
                             std::uint32_t look_ahead);

// The least bandwidth of memory, in bytes for each nanosecond, with which the rooflines add up to
// at most `time`; nothing if computing alone takes longer. `bytes_per_nano` is what `ops` have.
[[nodiscard]] std::optional<double> bandwidth_for(double time, std::span<const OpTime> ops,
                                                  Nanos op_latency, double bytes_per_nano);

}  // namespace weir::cost
