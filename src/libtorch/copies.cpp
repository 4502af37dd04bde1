// Copies of storages in the tier. All of this is called by the manager, with its lock held.
#include <c10/util/Exception.h>

#include <utility>

#include "libtorch/runtime.h"

namespace weir::libtorch {

namespace {
std::span<std::byte> bytes_of(const Block& block, Bytes size) {
  return {block.address, static_cast<std::size_t>(size.n)};
}
}  // namespace

// False: it did not work. `copy` fills the slot, or begins to.
template <typename Copying>
bool Runtime::copy_to_tier(StorageId storage, Copying&& copy) {
  const Block* block = blocks_[storage];
  if (block == nullptr || block->pages == nullptr) return false;
  free_discarded();
  std::optional<Slot> slot;
  try {
    slot = core_->tier->reserve(block->size);
    if (slot) {
      Transfer under_way = copy(*slot, *block);
      copies_[storage] = {.slot = *slot, .under_way = std::move(under_way)};
    }
  } catch (const TierError& error) {
    if (slot) core_->tier->free(*slot);
    TORCH_WARN_ONCE("weir: ", error.what());
    slot.reset();
  }
  if (!slot) tier_full_ = true;
  return slot.has_value();
}

bool Runtime::offload(StorageId storage) {
  const Nanos begin = tick();
  const bool copied = copy_to_tier(storage, [&](Slot slot, const Block& block) {
    core_->tier->write_now(slot, bytes_of(block, block.size));
    return Transfer{};
  });
  if (copied) count_offloaded(storage, begin);
  return copied;
}

bool Runtime::begin_offload(StorageId storage) {
  return copy_to_tier(storage, [&](Slot slot, const Block& block) {
    return core_->tier->write(slot, bytes_of(block, block.size));
  });
}

bool Runtime::finish_offload(StorageId storage) {
  Copy& copy = copies_.at(storage);
  const Nanos begin = tick();
  try {
    copy.under_way.wait();
  } catch (const TierError& error) {
    TORCH_WARN_ONCE("weir: ", error.what());
    tier_full_ = true;
    core_->tier->free(copy.slot);
    copies_.erase(storage);
    return false;
  }
  count_offloaded(storage, begin);
  return true;
}

void Runtime::count_offloaded(StorageId storage, Nanos begin) {
  offloaded_ += copies_.at(storage).slot.size.n;
  offload_ns_ += (tick() - begin).n;
}

void Runtime::fetch(StorageId storage) {
  const Nanos begin = tick();
  const Slot slot = copies_.at(storage).slot;
  Block* block = blocks_[storage];
  const bool aside = block == nullptr || may_move(*block);
  if (aside)
    block = &memory_.allocate(slot.size);
  else
    memory_.refill(*block);
  try {
    core_->tier->read_now(slot, bytes_of(*block, slot.size));
  } catch (...) {
    if (aside)
      memory_.free(*block);
    else
      memory_.evict(*block, false);
    throw;
  }
  become_bytes_of(storage, *block);
  fetched_ += slot.size.n;
  fetch_ns_ += (tick() - begin).n;
}

// Beside the program, the bytes come to another address and become the storage's when all are
// there: a raw read of what is not all there must fault.
bool Runtime::begin_fetch(StorageId storage) {
  Copy& copy = copies_.at(storage);
  try {
    copy.arrives = &memory_.allocate(copy.slot.size);
  } catch (const pages::NoPages&) {
    return false;
  }
  copy.under_way = core_->tier->read(copy.slot, bytes_of(*copy.arrives, copy.slot.size));
  return true;
}

void Runtime::finish_fetch(StorageId storage) {
  Copy& copy = copies_.at(storage);
  Block& arrived = *std::exchange(copy.arrives, nullptr);
  const Nanos begin = tick();
  try {
    copy.under_way.wait();
  } catch (const TierError&) {
    memory_.free(arrived);
    throw;
  }
  become_bytes_of(storage, arrived);
  fetched_ += copy.slot.size.n;
  fetch_ns_ += (tick() - begin).n;
}

bool Runtime::copied(StorageId storage) const { return copies_.at(storage).under_way.done(); }

// A slot that is still being written to is free only after that.
void Runtime::discard_copy(StorageId storage) {
  const auto found = copies_.find(storage);
  discarded_.push_back(std::move(found->second));
  copies_.erase(found);
  free_discarded();
}

void Runtime::free_discarded() {
  std::erase_if(discarded_, [&](const Copy& copy) {
    if (!copy.under_way.done()) return false;
    core_->tier->free(copy.slot);
    return true;
  });
}

std::optional<Reach> Runtime::tier() const {
  if (!core_->tier) return std::nullopt;
  return Reach{core_->tier->link(), core_->tier->capacity()};
}

Nanos Runtime::transfer_cost(Bytes size) const {
  const Link link = core_->tier->link();
  return transfer_time(size, link.write) + transfer_time(size, link.read);
}

}  // namespace weir::libtorch
