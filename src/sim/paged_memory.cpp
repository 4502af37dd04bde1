#include "sim/paged_memory.h"

#include <utility>

namespace weir::sim {

namespace {
template <typename T>
T& at(std::vector<T>& all, std::uint32_t place) {
  if (place >= all.size()) all.resize(place + 1);
  return all[place];
}
}  // namespace

PagedMemory::PagedMemory(Bytes budget, const PageCosts& costs)
    : PagedMemory{budget, std::make_unique<pages::PaperVm>(costs)} {}

PagedMemory::PagedMemory(Bytes budget, std::unique_ptr<pages::PaperVm> vm)
    : vm_{*vm}, arena_{budget, std::move(vm)} {}

// Null also if rounding to pages takes more than there are.
pages::Block* PagedMemory::allocate(Bytes size) {
  if (size.n < static_cast<std::int64_t>(pages::kPage)) return nullptr;
  try {
    return &arena_.allocate(size);
  } catch (const pages::NoPages&) {
    return nullptr;
  }
}

void PagedMemory::free(pages::Block*& block) {
  if (block != nullptr) arena_.free(*std::exchange(block, nullptr));
}

void PagedMemory::make(std::uint32_t output, Bytes size) { at(made_, output) = allocate(size); }

void PagedMemory::borrow(Bytes scratch) {
  pages::Block* block = allocate(scratch);
  free(block);
}

void PagedMemory::adopt(StorageId storage, std::uint32_t output) {
  pages::Block*& block = at(blocks_, index(storage));
  free(block);
  block = std::exchange(made_[output], nullptr);
}

void PagedMemory::reject(std::uint32_t output) { free(made_[output]); }

void PagedMemory::evict(StorageId storage) {
  pages::Block*& block = at(blocks_, index(storage));
  if (block == nullptr) return;
  pages::Block* nowhere = arena_.reserve({static_cast<std::int64_t>(block->span().bytes())});
  arena_.free(*std::exchange(block, nowhere));
}

void PagedMemory::free(StorageId storage) { free(at(blocks_, index(storage))); }

Nanos PagedMemory::take_spent() {
  const double now = vm_.spent_ns();
  return {static_cast<std::int64_t>(now - std::exchange(told_ns_, now))};
}

}  // namespace weir::sim
