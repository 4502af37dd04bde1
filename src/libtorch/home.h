#pragma once

#include <atomic>
#include <cstddef>

namespace c10 {
class DataPtr;
struct StorageImpl;
}  // namespace c10

namespace weir::libtorch {

struct Block;

// The storage of the program whose bytes a block is. While it is known the block can get another
// address: the storage is told, and all tensors that look upon it follow. A storage with a home
// frees its block, not its address, so it does not matter which one it had.
//
// The storage may die, or get other bytes, on any thread at any time; so only a weak reference is
// held, and it is asked whether the bytes are still the block's before it is told anything.
class Home {
 public:
  Home() = default;
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;
  ~Home() { leave(); }

  // For a storage that nobody else has seen yet.
  void move_in(c10::StorageImpl& storage, Block& block);
  [[nodiscard]] bool known() const { return storage_.load(std::memory_order_relaxed) != nullptr; }
  // The bytes of the storage are at this address from now on. False: they must stay where they are.
  bool point(const Block& block, std::byte* address);
  // From now on the address stays.
  void leave();

 private:
  c10::StorageImpl* claim();

  std::atomic<c10::StorageImpl*> storage_{nullptr};
};

// The block whose home this is the address of; null: it has none.
Block* block_at_home(const c10::DataPtr& data);

}  // namespace weir::libtorch
