#pragma once

#include <atomic>
#include <cstdint>

#include "tier/clock.h"
#include "tier/wrapper.h"

namespace weir::tier {

struct LaneCounters {
  std::uint64_t transfers = 0;  // that succeeded
  std::uint64_t failures = 0;
  Bytes moved;    // by the transfers that succeeded
  Nanos blocked;  // what the callers spent inside write() or read() and inside wait()

  bool operator==(const LaneCounters&) const = default;
};

struct TierCounters {
  LaneCounters writes, reads;

  bool operator==(const TierCounters&) const = default;
};

// Counts what goes each way. A transfer counts when it has been waited for.
class CountedTier final : public Wrapper {
 public:
  explicit CountedTier(Tier& inner, const Clock& clock = steady_clock())
      : Wrapper{inner}, clock_{clock} {}

  Transfer write(Slot slot, std::span<const std::byte> from) override;
  Transfer read(Slot slot, std::span<std::byte> to) override;

  [[nodiscard]] TierCounters counters() const;

 private:
  // No lock: a forked child reads too, and a lock could have been held when it was forked.
  struct Tally {
    std::atomic<std::uint64_t> transfers{0}, failures{0};
    std::atomic<std::int64_t> moved{0}, blocked{0};
  };
  class Counted;
  static LaneCounters read_tally(const Tally& tally);

  const Clock& clock_;
  Tally writes_, reads_;
};

}  // namespace weir::tier
