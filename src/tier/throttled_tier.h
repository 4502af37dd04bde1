#pragma once

#include <atomic>

#include "tier/clock.h"
#include "tier/wrapper.h"

namespace weir::tier {

// A tier behind a link of the given speed: a transfer is done when the inner one is and its time
// on the link has passed. Each lane carries one transfer at a time, in the order of the calls.
class ThrottledTier final : public Wrapper {
 public:
  // Both lanes need a bandwidth above zero.
  ThrottledTier(Tier& inner, const Link& link, const Clock& clock = steady_clock());

  Transfer write(Slot slot, std::span<const std::byte> from) override;
  Transfer read(Slot slot, std::span<std::byte> to) override;
  [[nodiscard]] Link link() const override { return link_; }

 private:
  Nanos book(std::atomic<std::int64_t>& free_at, Nanos time) const;

  const Link link_;
  const Clock& clock_;
  std::atomic<std::int64_t> write_free_at_{0}, read_free_at_{0};  // nanoseconds of the clock
};

}  // namespace weir::tier
