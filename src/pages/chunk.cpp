#include "pages/chunk.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"

namespace weir::pages {

namespace {
constexpr std::size_t kSmall = 64;         // pages: below 256 KiB a chunk is one granule
constexpr std::size_t kRangesInChunk = 8;  // from there to 2 MiB

struct Mapping {
  std::uint32_t origin = 0;
  Access access = Access::None;

  bool operator==(const Mapping&) const = default;
};

Mapping at_start(const Block* block) {
  if (block == nullptr || block->range.extent == 0) return {};
  return {block->range.origin, block->range.access};
}

Mapping at_end(const Block* block) {
  if (block == nullptr || block->range.extent < block->range.capacity) return {};
  return at_start(block);
}
}  // namespace

std::size_t range_pages(std::size_t pages) {
  if (pages < kGranule) return pages;
  return (pages + kGranule - 1) / kGranule * kGranule;
}

std::int64_t seams(const Chunk& chunk) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < chunk.count; ++i) {
    const Block& block = chunk.blocks[i];
    sum += seams(block) - (at_end(chunk.before(block)) != at_start(&block) && i > 0 ? 1 : 0);
  }
  return sum;
}

std::int64_t seams(const Block& block) {
  const Range& range = block.range;
  const bool left = at_end(range.chunk->before(block)) != at_start(&block);
  const bool right = at_end(&block) != at_start(range.chunk->after(block));
  const bool tail = range.extent > 0 && range.extent < range.capacity;
  const std::int64_t inner = std::max<std::int64_t>(0, std::int64_t{range.pieces} - 1);
  return std::int64_t{left} + right + tail + inner;
}

Chunks::Chunks(Span all) : all_{all}, slots_{all.pages / kGranule} {
  void* got = mmap(nullptr, slots_ * sizeof(*by_granule_), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  WEIR_CHECK(got != MAP_FAILED, slots_, errno);
  by_granule_ = static_cast<std::atomic<Chunk*>*>(got);  // zeros are null pointers
}

Chunks::~Chunks() { munmap(by_granule_, slots_ * sizeof(*by_granule_)); }

std::size_t Chunks::granules(std::size_t stride) {
  if (stride < kSmall) return 1;
  if (stride >= kGranule) return stride / kGranule;
  return (stride * kRangesInChunk + kGranule - 1) / kGranule;
}

Chunk& Chunks::add(Span span, std::size_t stride) {
  auto chunk = std::make_unique<Chunk>();
  chunk->span = span;
  chunk->stride = stride;
  chunk->count = span.pages / stride;
  chunk->blocks = std::make_unique<Block[]>(chunk->count);
  for (std::size_t i = 0; i < chunk->count; ++i) {
    Block& block = chunk->blocks[i];
    block.address = span.address + i * stride * kPage;
    block.range.chunk = chunk.get();
    block.range.capacity = stride;
  }
  chunks_.push_back(std::move(chunk));
  const std::size_t first =
      static_cast<std::size_t>(span.address - all_.address) / kPage / kGranule;
  for (std::size_t i = 0; i < span.pages / kGranule; ++i)
    by_granule_[first + i].store(chunks_.back().get(), std::memory_order_release);
  return *chunks_.back();
}

Block* Chunks::find(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto start = reinterpret_cast<std::uintptr_t>(all_.address);
  if (at < start || at - start >= all_.bytes()) return nullptr;
  const Chunk* chunk = by_granule_[(at - start) / kPage / kGranule].load(std::memory_order_acquire);
  if (chunk == nullptr) return nullptr;
  const auto chunk_start = reinterpret_cast<std::uintptr_t>(chunk->span.address);
  const std::size_t place = (at - chunk_start) / kPage / chunk->stride;
  return place < chunk->count ? &chunk->blocks[place] : nullptr;
}

}  // namespace weir::pages
