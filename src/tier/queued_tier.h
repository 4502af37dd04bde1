#pragma once

#include <sys/types.h>

#include <memory>

#include "tier/wrapper.h"

namespace weir::tier {

// Carries transfers out beside the program, on one thread for each direction, in the order of the
// calls. Whoever waits for one that has not begun carries it out himself, so what is wanted at once
// stands in no line.
class QueuedTier final : public Wrapper {
 public:
  explicit QueuedTier(Tier& inner);
  // Carries out what is left.
  ~QueuedTier() override;

  Transfer write(Slot slot, std::span<const std::byte> from) override;
  Transfer read(Slot slot, std::span<std::byte> to) override;
  // At once and on this thread: no other is woken, which would take a core from the program.
  void write_now(Slot slot, std::span<const std::byte> from);
  void read_now(Slot slot, std::span<std::byte> to);

  // Returns when nothing is under way: before a fork, since a device that writes to memory while
  // it is being copied writes to one of the copies only.
  void drain();

 private:
  class Lane;

  const pid_t owner_;
  std::unique_ptr<Lane> writes_, reads_;
};

}  // namespace weir::tier
