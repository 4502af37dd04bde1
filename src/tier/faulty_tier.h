#pragma once

#include <atomic>
#include <cstdint>

#include "tier/wrapper.h"

namespace weir::tier {

// Which call of each kind fails, counted from 1; 0: none.
struct Faults {
  std::uint64_t reserve = 0;
  std::uint64_t write = 0;
  std::uint64_t read = 0;
};

// For tests: a tier whose world fails now and then. A failed call does not reach the inner tier.
class FaultyTier final : public Wrapper {
 public:
  FaultyTier(Tier& inner, const Faults& faults) : Wrapper{inner}, faults_{faults} {}

  [[nodiscard]] std::optional<Slot> reserve(Bytes size) override;
  Transfer write(Slot slot, std::span<const std::byte> from) override;
  Transfer read(Slot slot, std::span<std::byte> to) override;

 private:
  const Faults faults_;
  std::atomic<std::uint64_t> reserves_{0}, writes_{0}, reads_{0};
};

}  // namespace weir::tier
