#include "tier/link_meter.h"

#include <algorithm>
#include <cmath>

namespace weir::tier {
namespace {

constexpr Bytes kLongestShort{64 << 10};
constexpr double kWeight = 1.0 / 8;     // of the newest transfer
constexpr double kLeastPerByte = 1e-3;  // 1 TB/s: a clock that stood still gives no division by 0

void average_in(double& average, bool& seen, double sample) {
  average = seen ? average + kWeight * (sample - average) : sample;
  seen = true;
}

}  // namespace

Link LinkMeter::link() const {
  const std::lock_guard lock{mutex_};
  return {.write = lane(write_), .read = lane(read_)};
}

void LinkMeter::note(Average& lane, Bytes size, Nanos time) {
  const auto bytes = static_cast<double>(size.n), nanos = static_cast<double>(time.n);
  const std::lock_guard lock{mutex_};
  if (size <= kLongestShort) {
    average_in(lane.latency, lane.short_seen, std::max(0.0, nanos - bytes * lane.per_byte));
    return;
  }
  // A long transfer that took less than the latency says that the latency was overrated, not that
  // the bandwidth is endless.
  const double moving = std::max(nanos - lane.latency, nanos / 2);
  average_in(lane.per_byte, lane.long_seen, moving / bytes);
}

Lane LinkMeter::lane(const Average& average) {
  return {.latency = {std::llround(average.latency)},
          .bytes_per_nano = 1 / std::max(average.per_byte, kLeastPerByte)};
}

}  // namespace weir::tier
