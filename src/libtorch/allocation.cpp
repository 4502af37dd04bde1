// Memory for PyTorch: what its allocator asks for and gives back.
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <thread>

#include "base/check.h"
#include "libtorch/runtime.h"

namespace weir::libtorch {

namespace {

constexpr std::int64_t kPage = 4096;

// FNV over words: it is compared within one process only. Never 0, which stands for none.
std::uint64_t checksum(const Block& block) {
  std::uint64_t sum = 0xcbf29ce484222325;
  const auto* words = reinterpret_cast<const std::uint64_t*>(block.address);
  for (std::int64_t i = 0; i < block.size.n / 8; ++i) sum = (sum ^ words[i]) * 0x100000001b3;
  return sum | 1;
}

Bytes whole_pages(std::size_t size) {
  return {(static_cast<std::int64_t>(size) + kPage - 1) / kPage * kPage};
}

}  // namespace

void* Runtime::allocate(std::size_t size) {
  if (size == 0) return nullptr;
  beware_of_strangers();
  if (memory_.small(size)) return memory_.allocate_small(size);
  const Bytes bytes = whole_pages(size);
  if (this_thread().replaying) {
    if (Block* lent = lend(bytes)) return lent->address;
    return allocate_large(bytes).address;
  }
  count_logical(bytes.n);
  try {
    Block& block = allocate_large(bytes);
    block.counted = true;
    count_taken(bytes.n);
    return block.address;
  } catch (...) {
    count_logical(-bytes.n);
    throw;
  }
}

// Where memory is short, most of this is making room: no op is dearer for it.
Block& Runtime::allocate_large(Bytes size) {
  if (!short_.load(std::memory_order_relaxed)) return take_pages(size);
  const Nanos begin = tick();
  Block& block = take_pages(size);
  const Nanos took = tick() - begin;
  this_thread().room += took;
  room_ns_.fetch_add(took.n, std::memory_order_relaxed);
  return block;
}

// The charge is given before the pages are looked for. They may still be on their way into the
// arena when another thread has just given up its charge for them.
Block& Runtime::take_pages(Bytes size) {
  Charge bytes = charge(size);
  for (int attempt = 0;; ++attempt) {
    try {
      Block& block = memory_.allocate(size);
      block.charge = std::move(bytes);
      return block;
    } catch (const pages::NoPages&) {
      if (attempt == 100) throw;
      std::this_thread::yield();
    }
  }
}

// An op that is run again makes its outputs at the addresses where they were, if it can.
Block* Runtime::lend(Bytes size) {
  const auto found = std::ranges::find_if(
      lendable_, [&](const Block* block) { return !block->lent && block->size == size; });
  if (found == lendable_.end()) return nullptr;
  Block& block = **found;
  block.charge = charge(size);
  memory_.refill(block);
  block.lent = true;
  return &block;
}

void Runtime::free(void* address) {
  if (address == nullptr) return;
  Block* block = memory_.find(address);
  if (block == nullptr) {
    if (memory_.in_slab(address)) return memory_.free_small(address);
    return c10::GetDefaultCPUAllocator()->raw_deallocate(address);
  }
  if (block->lent && this_thread().replaying) return take_back(*block);
  free(*block);
}

void Runtime::free(Block& block) {
  block.home.leave();
  if (block.counted) {
    count_logical(-block.size.n);
    count_taken(-block.size.n);
  }
  if (block.tensor == kUntold) return free_untold(block);
  ThreadState& thread = this_thread();
  if (thread.in_op != 0)
    thread.freed.push_back(&block);
  else
    release(block);
}

// First the pages, then the charge: whoever gets the charge finds the pages.
void Runtime::free_untold(Block& block) {
  const Charge bytes = std::move(block.charge);
  memory_.free(block);
}

void Runtime::release(Block& block) {
  const TensorId tensor = block.tensor;
  if (recorder_.on()) recorder_.release(block);
  block.pin.reset();
  block.held.reset();
  if (block.let_go()) --away_;
  core_->manager->release(tensor);  // the block may be gone after this
}

TensorId Runtime::tensor_of(Block& block) {
  if (block.tensor != kUntold) return block.tensor;
  const std::lock_guard lock{tell_mutex_};
  if (block.tensor != kUntold) return block.tensor;
  return core_->manager->add_constant(
      std::move(block.charge),
      [&](TensorId tensor, StorageId storage) { bind(block, tensor, storage); });
}

void Runtime::bind(Block& block, TensorId tensor, StorageId storage) {
  block.storage = storage;
  blocks_.set(storage, &block);
  block.tensor.store(tensor, std::memory_order_release);
}

// What follows is called by the manager, with its lock held.

void Runtime::evict(StorageId storage) {
  Block* block = blocks_[storage];
  if (block == nullptr) return;
  if (!block->program()) {
    blocks_.set(storage, nullptr);
    return memory_.free(*block);
  }
  WEIR_CHECK(block->pages != nullptr && block->resident(), storage);
  if (options_.checksum) block->checksum = checksum(*block);
  if (block->leave()) ++away_;
  short_.store(true, std::memory_order_relaxed);
  memory_.evict(*block, addresses_move());
}

void Runtime::died(StorageId storage) {
  Block* block = blocks_[storage];
  if (block == nullptr) return;
  blocks_.set(storage, nullptr);
  memory_.free(*block);
}

void Runtime::verify(Block& block) const {
  if (!block.resident()) return;
  const std::uint64_t before = block.checksum.exchange(0);  // two threads may come here at once
  WEIR_CHECK(before == 0 || checksum(block) == before, "what came back is not what was evicted",
             block.storage);
}

void Runtime::come_back(Block& block) {
  if (block.come_back()) --away_;
}

void Runtime::adopted(StorageId storage, std::uint32_t output) {
  Block* from = std::exchange(outputs_[output], nullptr);
  from->lent = false;
  become_bytes_of(storage, *from);
}

// A storage that no block is left of becomes one that nobody knows.
void Runtime::become_bytes_of(StorageId storage, Block& from) {
  Block* target = blocks_[storage];
  if (target == nullptr) {
    from.let_go();
    return bind(from, kUntold, storage);
  }
  if (target != &from) memory_.take_over(*target, from, addresses_move());
  come_back(*target);
}

void Runtime::rejected(std::uint32_t output) {
  Block* from = std::exchange(outputs_[output], nullptr);
  if (from->lent) {
    memory_.evict(*from, false);
    from->lent = false;
  } else {
    memory_.free(*from);
  }
}

void Runtime::forget(std::uint64_t tag) {
  if (tag != 0) recipes_.forget(reinterpret_cast<Recipe*>(tag));
}

}  // namespace weir::libtorch
