#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "libtorch/home.h"
#include "pages/arena.h"
#include "weir/manager.h"

namespace weir::libtorch {

inline constexpr TensorId kUntold{UINT32_MAX};

// What a storage tells us when somebody asks it for its address. Threads that share a tensor change
// this at the same time: who makes it `Changing` may touch the storage's hook.
enum class Hook : std::uint8_t {
  Off,       // nothing, or somebody else has a hook there
  On,        // that it was asked
  Called,    // it was asked, and PyTorch is about to take the hook away
  Changing,  // a thread is at it
};

// A piece of memory that PyTorch's allocator handed out: whole pages of the arena, or an object in
// a slab. The manager knows it as a storage once an op has seen it.
struct Block {
  std::byte* address = nullptr;
  Bytes size;                             // as charged: whole pages; none for an object in a slab
  pages::Block* pages = nullptr;          // null: an object in a slab
  std::atomic<TensorId> tensor{kUntold};  // who sees it sees the storage too
  StorageId storage = kNoStorage;
  std::uint32_t number = 0;  // in the trace being recorded
  bool numbered = false;
  std::atomic<std::uint64_t> checksum{0};  // of the bytes that were evicted; debug mode
  bool counted = false;                    // among the logical bytes
  bool lent = false;                       // evicted, and given to a replay that makes it anew
  std::atomic<bool> escaped{false};  // somebody has its address and may write whenever he likes
  std::atomic<Hook> hook{Hook::Off};
  Home home;                // unknown: its address stays
  Charge charge;            // until the manager is told
  std::optional<Pin> pin;   // while it has escaped
  std::optional<Pin> held;  // while the user wants it to stay

  // The program has not let go of it.
  [[nodiscard]] bool program() const { return (state_ & kProgram) != 0; }
  // Its pages hold its bytes.
  [[nodiscard]] bool resident() const { return (state_ & kResident) != 0; }
  // Away: of the program, and not resident. The program lets go of a block while another thread
  // evicts it, so each of these changes one half and knows the other: true, if a block that was
  // away no longer is, or the reverse.
  bool let_go() { return (state_.fetch_and(kResident) & kResident) == 0; }
  bool leave() { return (state_.fetch_and(kProgram) & kProgram) != 0; }
  bool come_back() { return state_.fetch_or(kResident) == kProgram; }

 private:
  static constexpr std::uint8_t kProgram = 1, kResident = 2;
  std::atomic<std::uint8_t> state_{kProgram | kResident};
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
