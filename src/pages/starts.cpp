#include "pages/starts.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"

namespace weir::pages {

Starts::Starts(Span all) : all_{all} {
  void* got = mmap(nullptr, all.pages / kGranule * sizeof(*leaves_), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  WEIR_CHECK(got != MAP_FAILED, all.pages, errno);
  leaves_ = static_cast<std::atomic<Leaf*>*>(got);  // zeros are null pointers
}

Starts::~Starts() { munmap(leaves_, all_.pages / kGranule * sizeof(*leaves_)); }

void Starts::set(const std::byte* address, Block* block) {
  const std::size_t page = static_cast<std::size_t>(address - all_.address) / kPage;
  std::atomic<Leaf*>& place = leaves_[page / kGranule];
  Leaf* leaf = place.load(std::memory_order_relaxed);
  if (leaf == nullptr) {
    leaf = owned_.emplace_back(std::make_unique<Leaf>()).get();
    place.store(leaf, std::memory_order_release);
    end_ = std::max(end_.load(), (page / kGranule + 1) * kGranule);
  }
  const Block* before = leaf->blocks[page % kGranule].exchange(block, std::memory_order_acq_rel);
  if (block != nullptr && before == nullptr) ++leaf->count;
  if (block == nullptr && before != nullptr) --leaf->count;
}

Starts::Found Starts::at_or_before(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto start = reinterpret_cast<std::uintptr_t>(all_.address);
  const std::size_t end = end_.load(std::memory_order_acquire);
  if (at < start || at - start >= all_.bytes() || end == 0) return {};
  const std::size_t asked = (at - start) / kPage;
  for (std::size_t page = std::min(asked, end - 1);; page = page / kGranule * kGranule - 1) {
    const Leaf* leaf = leaves_[page / kGranule].load(std::memory_order_acquire);
    if (leaf != nullptr && leaf->count.load(std::memory_order_relaxed) != 0) {
      for (std::size_t i = page % kGranule + 1; i-- > 0;)
        if (Block* block = leaf->blocks[i].load(std::memory_order_acquire))
          return {block, asked - (page / kGranule * kGranule + i)};
    }
    if (page < kGranule) return {};
  }
}

}  // namespace weir::pages
