#include "tier/counted_tier.h"

#include <utility>

namespace weir::tier {

class CountedTier::Counted final : public Transfer::Work {
 public:
  Counted(Transfer inner, Bytes size, Tally& tally, const Clock& clock)
      : inner_{std::move(inner)}, size_{size}, tally_{tally}, clock_{clock} {}

  [[nodiscard]] bool done() const override { return inner_.done(); }

  void wait() override {
    const Nanos start = clock_.now();
    try {
      inner_.wait();
    } catch (const TierError&) {
      tally_.blocked += (clock_.now() - start).n;
      ++tally_.failures;
      throw;
    }
    tally_.blocked += (clock_.now() - start).n;
    tally_.moved += size_.n;
    ++tally_.transfers;
  }

 private:
  Transfer inner_;
  Bytes size_;
  Tally& tally_;
  const Clock& clock_;
};

Transfer CountedTier::write(Slot slot, std::span<const std::byte> from) {
  const Nanos start = clock_.now();
  Transfer inner = Wrapper::write(slot, from);
  writes_.blocked += (clock_.now() - start).n;
  return Transfer{std::make_unique<Counted>(std::move(inner), slot.size, writes_, clock_)};
}

Transfer CountedTier::read(Slot slot, std::span<std::byte> to) {
  const Nanos start = clock_.now();
  Transfer inner = Wrapper::read(slot, to);
  reads_.blocked += (clock_.now() - start).n;
  return Transfer{std::make_unique<Counted>(std::move(inner), slot.size, reads_, clock_)};
}

TierCounters CountedTier::counters() const {
  return {.writes = read_tally(writes_), .reads = read_tally(reads_)};
}

LaneCounters CountedTier::read_tally(const Tally& tally) {
  return {.transfers = tally.transfers,
          .failures = tally.failures,
          .moved = {tally.moved},
          .blocked = {tally.blocked}};
}

}  // namespace weir::tier
