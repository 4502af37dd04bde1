#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tier/clock.h"
#include "tier/pages.h"
#include "weir/tier.h"

namespace weir::tier {

// A folder on a disk, gone with all that is in it at the end.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

// Time passes only when somebody sleeps or a test says so.
class FakeClock final : public Clock {
 public:
  [[nodiscard]] Nanos now() const override { return now_; }
  void sleep_until(Nanos time) const override { now_ = std::max(now_, time); }

 private:
  mutable Nanos now_{1'000};
};

// Bytes that differ from seed to seed and from place to place.
[[nodiscard]] std::vector<std::byte> content(std::uint64_t seed, Bytes size);

// Memory that begins `shift` bytes behind a page boundary.
class Memory {
 public:
  explicit Memory(Bytes size, std::size_t shift = 0)
      : pages_{make_pages(static_cast<std::size_t>(size.n) + shift)},
        bytes_{pages_.get() + shift, static_cast<std::size_t>(size.n)} {}
  Memory(const std::vector<std::byte>& bytes, std::size_t shift);

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte> copy() const { return {bytes_.begin(), bytes_.end()}; }

 private:
  Pages pages_;
  std::span<std::byte> bytes_;
};

// Reserves a slot that must be there.
[[nodiscard]] Slot must_reserve(Tier& tier, Bytes size);
// Through memory with that shift, and waited for.
void put(Tier& tier, Slot slot, const std::vector<std::byte>& bytes, std::size_t shift = 0);
[[nodiscard]] std::vector<std::byte> get(Tier& tier, Slot slot, std::size_t shift = 0);

}  // namespace weir::tier
