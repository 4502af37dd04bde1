#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "pages/block.h"

namespace weir::pages {

// Ranges of one length side by side. A block below 2 MiB lies `stride` pages behind the one before
// it, so that neighbours can be moved as one; a larger one has a chunk of its own.
struct Chunk {
  Span span;
  std::size_t stride = 0;  // pages from one block to the next
  std::size_t count = 0;
  std::unique_ptr<Block[]> blocks;

  [[nodiscard]] Block* before(const Block& block) const {
    return &block == &blocks[0] ? nullptr : &blocks[place(block) - 1];
  }
  [[nodiscard]] Block* after(const Block& block) const {
    return place(block) + 1 == count ? nullptr : &blocks[place(block) + 1];
  }

 private:
  [[nodiscard]] std::size_t place(const Block& block) const {
    return static_cast<std::size_t>(&block - &blocks[0]);
  }
};

// Pages of address space for a block: from 2 MiB on whole granules, so that blocks of nearly one
// size share ranges and whole page-table pages can be moved.
std::size_t range_pages(std::size_t pages);

// Mappings that end at the block's edges or inside its range, about: neighbours are one mapping if
// the same move brought both, or none, and access to them is the same.
std::int64_t seams(const Block& block);
std::int64_t seams(const Chunk& chunk);  // all of it, each counted once

// All chunks, and the way from an address to its block.
class Chunks {
 public:
  explicit Chunks(Span all);
  Chunks(const Chunks&) = delete;
  Chunks& operator=(const Chunks&) = delete;
  ~Chunks();

  // Granules of address space for a new chunk with ranges of `stride` pages.
  static std::size_t granules(std::size_t stride);
  Chunk& add(Span span, std::size_t stride);

  // The block whose range has the address, live or not, or null. Takes no lock and may be called
  // in a signal handler.
  [[nodiscard]] Block* find(const void* address) const;

  [[nodiscard]] const std::vector<std::unique_ptr<Chunk>>& all() const { return chunks_; }

 private:
  Span all_;
  std::size_t slots_;
  std::atomic<Chunk*>* by_granule_;  // memory appears where it is touched
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace weir::pages
