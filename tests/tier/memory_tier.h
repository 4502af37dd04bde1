#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "weir/tier.h"

namespace weir::tier {

// The readable twin of a tier: each slot is a vector.
class MemoryTier final : public Tier {
 public:
  explicit MemoryTier(Bytes capacity) : capacity_{capacity} {}

  [[nodiscard]] std::optional<Slot> reserve(Bytes size) override {
    const std::lock_guard lock{mutex_};
    if (used_ + size > capacity_) return std::nullopt;
    used_ += size;
    next_ += Bytes{1};
    slots_[next_].resize(static_cast<std::size_t>(size.n));
    return Slot{next_, size};
  }
  void free(Slot slot) override {
    const std::lock_guard lock{mutex_};
    WEIR_CHECK(slots_.erase(slot.at) == 1, slot.at);
    used_ -= slot.size;
  }
  Transfer write(Slot slot, std::span<const std::byte> from) override {
    const std::lock_guard lock{mutex_};
    std::ranges::copy(from, slots_.at(slot.at).begin());
    return {};
  }
  Transfer read(Slot slot, std::span<std::byte> to) override {
    const std::lock_guard lock{mutex_};
    std::ranges::copy(slots_.at(slot.at), to.begin());
    return {};
  }
  [[nodiscard]] Bytes capacity() const override { return capacity_; }
  [[nodiscard]] Bytes used() const override {
    const std::lock_guard lock{mutex_};
    return used_;
  }
  [[nodiscard]] Link link() const override { return {.write = {{}, 1.0}, .read = {{}, 1.0}}; }

 private:
  const Bytes capacity_;
  mutable std::mutex mutex_;
  std::map<Bytes, std::vector<std::byte>> slots_;
  Bytes next_;
  Bytes used_;
};

}  // namespace weir::tier
