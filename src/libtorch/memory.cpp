#include "libtorch/memory.h"

namespace weir::libtorch {

void BlockTable::set(StorageId storage, Block* block) {
  std::atomic<Segment*>& place = segments_[index(storage) / kSegment];
  Segment* segment = place.load(std::memory_order_acquire);
  if (segment == nullptr) {
    auto* fresh = new Segment;
    if (place.compare_exchange_strong(segment, fresh, std::memory_order_acq_rel))
      segment = fresh;
    else
      delete fresh;
  }
  segment->blocks[index(storage) % kSegment].store(block, std::memory_order_release);
}

Memory::Memory(Bytes smallest, Chunks chunks)
    : smallest_{static_cast<std::size_t>(smallest.n)},
      chunks_{std::move(chunks)},
      arena_{kMostBytes},
      slabs_{[this](std::size_t size) { return new_chunk(size); },
             [this](std::byte* chunk, std::size_t size) { return_chunk(chunk, size); }} {}

// A chunk of the slabs is pages without a block: nobody but the slabs refers to it.
std::byte* Memory::new_chunk(std::size_t size) {
  const Bytes bytes{static_cast<std::int64_t>(size)};
  chunks_.grow(bytes);
  try {
    return arena_.allocate(bytes, {pages::kSlabUnit}).address;
  } catch (...) {
    chunks_.shrink(bytes);
    throw;
  }
}

void Memory::return_chunk(std::byte* chunk, std::size_t size) {
  arena_.free(*arena_.find(chunk));
  chunks_.shrink({static_cast<std::int64_t>(size)});
}

Block& Memory::new_block() {
  const std::lock_guard lock{mutex_};
  if (idle_.empty()) {
    all_.push_back(std::make_unique<Block>());
    return *all_.back();
  }
  Block* block = idle_.back();
  idle_.pop_back();
  return *block;
}

void Memory::recycle(Block& block) {
  const std::lock_guard lock{mutex_};
  std::destroy_at(&block);
  std::construct_at(&block);
  idle_.push_back(&block);
}

Block& Memory::allocate(Bytes size) {
  pages::Block& pages = arena_.allocate(size);
  Block& block = new_block();
  block.address = pages.address;
  block.size = size;
  block.pages = &pages;
  pages.owner = &block;
  return block;
}

// What the block had is free, if its home can be told of the change.
bool Memory::move(Block& block, pages::Block& to) {
  to.owner = &block;
  if (!block.home.point(block, to.address)) return false;
  arena_.free(*block.pages);
  block.pages = &to;
  block.address = to.address;
  moved_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void Memory::evict(Block& block, bool may_move) {
  if (may_move && block.home.known())
    if (pages::Block* nowhere = arena_.reserve(block.size)) {
      if (move(block, *nowhere)) return;
      arena_.free(*nowhere);
    }
  arena_.evict(*block.pages);
}

void Memory::take_over(Block& target, Block& from, bool may_move) {
  if (!may_move || !move(target, *from.pages)) arena_.adopt(*target.pages, *from.pages);
  recycle(from);
}

void Memory::free(Block& block) {
  if (block.pages != nullptr)
    arena_.free(*block.pages);
  else
    slabs_.free(block.address);
  recycle(block);
}

Block* Memory::find(const void* address) const {
  if (slabs_.contains(address))
    return static_cast<Block*>(slabs_.owner(address).load(std::memory_order_acquire));
  const pages::Block* pages = arena_.find(address);
  return pages == nullptr ? nullptr : static_cast<Block*>(pages->owner);
}

Block* Memory::find_or_make(void* address) {
  Block* block = find(address);
  if (block != nullptr || !slabs_.contains(address)) return block;
  Block& made = new_block();
  made.address = static_cast<std::byte*>(address);
  void* none = nullptr;
  if (slabs_.owner(address).compare_exchange_strong(none, &made)) return &made;
  recycle(made);
  return static_cast<Block*>(none);
}

}  // namespace weir::libtorch
