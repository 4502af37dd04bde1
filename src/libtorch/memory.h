#pragma once

#include <mutex>
#include <unordered_map>
#include <vector>

#include "libtorch/block.h"
#include "pages/slab.h"

namespace weir::libtorch {

// All memory that is handed out, and the blocks it consists of. Charging for it is the caller's.
class Memory {
 public:
  // Called before the slabs grow, and after they shrank, by so many bytes.
  struct Chunks {
    std::function<void(Bytes)> grow;
    std::function<void(Bytes)> shrink;
  };
  Memory(Bytes smallest, Chunks chunks);

  // Blocks below this size are objects in slabs, which stay.
  [[nodiscard]] bool small(std::size_t size) const {
    return size < smallest_ && slabs_.serves(size);
  }
  void set_smallest(Bytes smallest) { smallest_ = static_cast<std::size_t>(smallest.n); }

  void* allocate_small(std::size_t size) { return slabs_.allocate(size); }
  Block& allocate(Bytes size);
  // The block has pages again. Its bytes are undefined.
  void refill(Block& block) { arena_.restore(*block.pages); }
  // The pages are given up. If the address may move, it goes with them, and the block gets one
  // where every access faults.
  void evict(Block& block, bool may_move);
  // `target`, whose pages are gone, takes over those of `from`, which is no more; if it may move,
  // with their address.
  void take_over(Block& target, Block& from, bool may_move);
  // How often a block got another address, since that was reset.
  [[nodiscard]] std::uint64_t moved() const { return moved_.load(std::memory_order_relaxed); }
  void reset_moved() { moved_ = 0; }
  void free(Block& block);
  // Memory that no block was made for.
  void free_small(void* address) { slabs_.free(address); }
  // Chunks of slabs that have no object.
  void give_back_spares() { slabs_.give_back_spares(); }

  // The block of this address, made if the address is an object in a slab that has none yet. Null:
  // not our memory.
  [[nodiscard]] Block* find(const void* address) const;
  Block* find_or_make(void* address);
  [[nodiscard]] bool in_slab(const void* address) const { return slabs_.contains(address); }

  // Every block there is. Not while others allocate.
  template <typename Visit>
  void for_each(Visit&& visit) {
    const std::lock_guard lock{mutex_};
    for (const auto& block : all_)
      if (block->address != nullptr) visit(*block);
  }

  [[nodiscard]] pages::Arena& arena() { return arena_; }
  [[nodiscard]] const pages::Arena& arena() const { return arena_; }

  // For pthread_atfork: nobody is inside between these two.
  void lock() {
    slabs_.lock();
    mutex_.lock();
    arena_.lock();
  }
  void unlock() {
    arena_.unlock();
    mutex_.unlock();
    slabs_.unlock();
  }

 private:
  Block& new_block();
  void recycle(Block& block);
  [[nodiscard]] bool move(Block& block, pages::Block& to);
  std::byte* new_chunk(std::size_t size);
  void return_chunk(std::byte* chunk, std::size_t size);

  std::size_t smallest_;
  std::atomic<std::uint64_t> moved_{0};
  Chunks chunks_;
  pages::Arena arena_;
  pages::Slabs slabs_;
  std::mutex mutex_;  // of the two below
  std::vector<std::unique_ptr<Block>> all_;
  std::vector<Block*> idle_;
};

}  // namespace weir::libtorch
