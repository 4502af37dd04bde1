#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "weir/types.h"

namespace weir {

// The world failed a tier: the disk is full, a device gave an error. The text is one line: what,
// where, what to do. The tier and its slots are as they were before the call.
class TierError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A place in a tier: made by reserve(), good until free().
struct Slot {
  Bytes at;    // the tier's own; no two slots in use have the same
  Bytes size;  // as asked for

  bool operator==(const Slot&) const = default;
};

// One direction of a link.
struct Lane {
  Nanos latency;
  double bytes_per_nano = 0;

  bool operator==(const Lane&) const = default;
};

// The path between the device and a tier.
struct Link {
  Lane write, read;

  bool operator==(const Link&) const = default;
};

[[nodiscard]] inline Nanos transfer_time(Bytes size, const Lane& lane) {
  return lane.latency + Nanos{std::llround(static_cast<double>(size.n) / lane.bytes_per_nano)};
}

// A copy on its way. Its memory, its slot and its tier must stay until it is done; so destroying it
// waits, and drops a failure that nobody asked about. Not for several threads at once.
class [[nodiscard]] Transfer {
 public:
  // What a tier does for one transfer. Destroyed only after wait().
  class Work {
   public:
    virtual ~Work() = default;
    [[nodiscard]] virtual bool done() const = 0;  // wait() would return, or throw, at once
    virtual void wait() = 0;                      // throws TierError
  };

  Transfer() = default;  // done
  explicit Transfer(std::unique_ptr<Work> work) : work_{std::move(work)} {}
  Transfer(Transfer&&) noexcept = default;
  Transfer& operator=(Transfer&& other) noexcept {
    std::swap(work_, other.work_);
    other.finish();
    return *this;
  }
  ~Transfer() { finish(); }

  [[nodiscard]] bool done() const { return work_ == nullptr || work_->done(); }
  // Throws TierError, the first time only. After a failed write the slot is still reserved and its
  // bytes are undefined; after a failed read the memory is.
  void wait() {
    if (const std::unique_ptr<Work> work = std::move(work_)) work->wait();
  }

 private:
  void finish() noexcept {
    try {
      wait();
    } catch (const TierError&) {
      return;
    }
  }

  std::unique_ptr<Work> work_;
};

// A place for offloaded bytes, with a capacity and a link. Safe from any thread; transfers of one
// slot must not overlap unless all of them read.
//
// After fork() the child may read what was written before, take part in nothing else, and let slots
// go (which does nothing): the tier stays the parent's.
class Tier {
 public:
  Tier() = default;
  Tier(const Tier&) = delete;
  Tier& operator=(const Tier&) = delete;
  virtual ~Tier() = default;

  // Room for `size` bytes, at least one; nothing if the capacity has no such room. Throws TierError
  // if the capacity has room and the world has not.
  [[nodiscard]] virtual std::optional<Slot> reserve(Bytes size) = 0;
  virtual void free(Slot slot) = 0;

  // Memory of exactly slot.size bytes. A failure is thrown by the transfer's wait(). Memory that
  // begins at a page boundary may be faster; nothing beyond its end is touched.
  virtual Transfer write(Slot slot, std::span<const std::byte> from) = 0;
  virtual Transfer read(Slot slot, std::span<std::byte> to) = 0;

  [[nodiscard]] virtual Bytes capacity() const = 0;
  // What the slots take, which may be more than was asked for; never above the capacity.
  [[nodiscard]] virtual Bytes used() const = 0;
  // As measured: a probe at first, then a moving average over the transfers.
  [[nodiscard]] virtual Link link() const = 0;
};

}  // namespace weir
