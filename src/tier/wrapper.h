#pragma once

#include "weir/tier.h"

namespace weir::tier {

// Forwards all to another tier, which must outlive it. What derives from it adds one thing.
class Wrapper : public Tier {
 public:
  explicit Wrapper(Tier& inner) : inner_{inner} {}

  [[nodiscard]] std::optional<Slot> reserve(Bytes size) override { return inner_.reserve(size); }
  void free(Slot slot) override { inner_.free(slot); }
  Transfer write(Slot slot, std::span<const std::byte> from) override {
    return inner_.write(slot, from);
  }
  Transfer read(Slot slot, std::span<std::byte> to) override { return inner_.read(slot, to); }
  [[nodiscard]] Bytes capacity() const override { return inner_.capacity(); }
  [[nodiscard]] Bytes used() const override { return inner_.used(); }
  [[nodiscard]] Link link() const override { return inner_.link(); }

 private:
  Tier& inner_;
};

}  // namespace weir::tier
