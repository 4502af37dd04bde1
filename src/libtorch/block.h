#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "pages/arena.h"
#include "weir/manager.h"

namespace weir::libtorch {

inline constexpr TensorId kUntold{UINT32_MAX};

// A piece of memory that PyTorch's allocator handed out: whole pages of the arena, or an object in
// a slab. The manager knows it as a storage once an op has seen it.
struct Block {
  std::byte* address = nullptr;
  Bytes size;                     // as charged: whole pages; none for an object in a slab
  pages::Block* pages = nullptr;  // null: an object in a slab
  TensorId tensor = kUntold;
  StorageId storage = kNoStorage;
  std::uint32_t number = 0;  // in the trace being recorded
  bool numbered = false;
  std::optional<std::uint64_t> checksum;  // of the bytes that were evicted; debug mode
  bool counted = false;                   // among the logical bytes
  bool lent = false;                      // evicted, and given to a replay that makes it anew
  bool resident = true;                   // its pages hold its bytes
  std::atomic<bool> program{true};        // the program has not let go of it
  std::atomic<bool> escaped{false};  // somebody has its address and may write whenever he likes
  std::atomic<bool> armed{false};    // its storage tells us when somebody asks for its address
  Charge charge;                     // until the manager is told
  std::optional<Pin> pin;            // while it has escaped
  std::optional<Pin> held;           // while the user wants it to stay
};

// Blocks by storage. Grows without moving, so readers need no lock.
class BlockTable {
 public:
  [[nodiscard]] Block* operator[](StorageId storage) const {
    const Segment* segment = segments_[index(storage) / kSegment].load(std::memory_order_acquire);
    return segment == nullptr
               ? nullptr
               : segment->blocks[index(storage) % kSegment].load(std::memory_order_acquire);
  }
  void set(StorageId storage, Block* block);

 private:
  static constexpr std::uint32_t kSegment = 1 << 14;
  static constexpr std::uint32_t kSegments = 1 << 14;
  struct Segment {
    std::atomic<Block*> blocks[kSegment] = {};
  };

  std::atomic<Segment*> segments_[kSegments] = {};
};

}  // namespace weir::libtorch
