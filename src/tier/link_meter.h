#pragma once

#include <mutex>

#include "weir/tier.h"

namespace weir::tier {

// Turns what transfers took into a link. Short transfers teach the latency, long ones the
// bandwidth, each as a moving average; the first of each kind counts fully. Safe from any thread.
class LinkMeter {
 public:
  void note_write(Bytes size, Nanos time) { note(write_, size, time); }
  void note_read(Bytes size, Nanos time) { note(read_, size, time); }

  [[nodiscard]] Link link() const;

 private:
  // Times are averaged, not rates: what is predicted from a lane is a time.
  struct Average {
    double latency = 0;  // nanoseconds
    double per_byte = 0;
    bool short_seen = false, long_seen = false;
  };
  void note(Average& lane, Bytes size, Nanos time);
  static Lane lane(const Average& average);

  mutable std::mutex mutex_;
  Average write_, read_;
};

}  // namespace weir::tier
