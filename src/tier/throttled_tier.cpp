#include "tier/throttled_tier.h"

#include <algorithm>

#include "base/check.h"

namespace weir::tier {
namespace {

class Throttled final : public Transfer::Work {
 public:
  Throttled(Transfer inner, Nanos due, const Clock& clock)
      : inner_{std::move(inner)}, due_{due}, clock_{clock} {}

  [[nodiscard]] bool done() const override { return inner_.done() && clock_.now() >= due_; }
  void wait() override {
    inner_.wait();
    clock_.sleep_until(due_);
  }

 private:
  Transfer inner_;
  Nanos due_;
  const Clock& clock_;
};

}  // namespace

ThrottledTier::ThrottledTier(Tier& inner, const Link& link, const Clock& clock)
    : Wrapper{inner}, link_{link}, clock_{clock} {
  WEIR_CHECK(link.write.bytes_per_nano > 0 && link.read.bytes_per_nano > 0,
             link.write.bytes_per_nano, link.read.bytes_per_nano);
}

Transfer ThrottledTier::write(Slot slot, std::span<const std::byte> from) {
  const Nanos due = book(write_free_at_, transfer_time(slot.size, link_.write));
  return Transfer{std::make_unique<Throttled>(Wrapper::write(slot, from), due, clock_)};
}

Transfer ThrottledTier::read(Slot slot, std::span<std::byte> to) {
  const Nanos due = book(read_free_at_, transfer_time(slot.size, link_.read));
  return Transfer{std::make_unique<Throttled>(Wrapper::read(slot, to), due, clock_)};
}

// No lock: a forked child reads too, and a lock could have been held when it was forked.
Nanos ThrottledTier::book(std::atomic<std::int64_t>& free_at, Nanos time) const {
  const Nanos now = clock_.now();
  std::int64_t seen = free_at.load();
  std::int64_t due = 0;
  do {
    due = std::max(seen, now.n) + time.n;
  } while (!free_at.compare_exchange_weak(seen, due));
  return {due};
}

}  // namespace weir::tier
