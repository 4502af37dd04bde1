#pragma once

#include <memory>
#include <vector>

#include "pages/bins.h"

namespace weir::pages {

// Pages of neighbours that lie in place without a gap: the last `pages` pages before the end of
// what `last` holds. Every block of the run but the last is full; of the first it may be a part.
struct Run {
  Block* first = nullptr;
  Block* last = nullptr;
  std::size_t pages = 0;

  [[nodiscard]] Span span() const {
    return {last->address + last->range.held * kPage - pages * kPage, pages};
  }
};

// A part of free neighbours, some with pages and some without.
struct Gap {
  Block* first = nullptr;  // where it begins
  Span span;
  std::size_t held = 0;  // pages that are in place
};

// All blocks in the order of their addresses, without a gap between them, and those that are not in
// use by what they hold. Free neighbours are one block if they are of one kind: with pages, open
// or not.
class Heap {
 public:
  explicit Heap(Span all);

  // Free blocks with pages, or without, that have a part of this length aligned so; null: none.
  [[nodiscard]] Block* full(std::size_t pages, std::size_t alignment) const;
  [[nodiscard]] Block* empty(std::size_t pages, std::size_t alignment) const;
  // One without pages where every access faults: apart from others, if there are such addresses.
  [[nodiscard]] Block* closed(std::size_t pages) const;
  // A gap of this length with many pages in place; none are: there is no such gap.
  [[nodiscard]] Gap gap(std::size_t pages) const;
  // Its blocks, from the one that is returned on, are in no bin, and resident for all to see.
  Block& claim(const Gap& gap);
  // What was claimed, as one block.
  Block& fuse(Block& first, const Gap& gap);
  // What was claimed is free again.
  void unclaim(Block& first, const Gap& gap);
  // Addresses are short: from now on those that were apart are like all others.
  void set_none_apart();
  // That part of a free block, as a block by itself that is in no bin.
  Block& cut(Block& block, std::size_t pages, std::size_t alignment);

  // Pages that can be taken, of free blocks rather than of evicted ones: up to `most`, if one donor
  // can give `least`, else as many as there are in one run. The run is empty: there are none.
  Run find(std::size_t least, std::size_t most);
  Run find_free();
  // All pages of an evicted block that holds so many, or of one that holds the most.
  Run find_evicted(std::size_t least);
  // The pages that are least worth keeping: of a small free block, or of evicted ones.
  Run find_small(std::size_t most);

  // The block is one that donates from now on, or an empty one. Of a free block, the one it has
  // become a part of is returned.
  Block& put(Block& block);
  static void take(Block& block) { Bins::remove(block); }
  // The run's blocks hold its pages no longer; `rest` is what is there in their place.
  void rob(const Run& run, Rest rest);

  [[nodiscard]] Block* first() const { return first_; }
  // Pages from the start of the block to the first one that is aligned.
  [[nodiscard]] static std::size_t skip(const Block& block, std::size_t alignment);
  // Two neighbours that are free and of one kind, and so ought to be one.
  [[nodiscard]] static bool joinable(const Block& left, const Block* right);

 private:
  Block& new_block();
  Block& split(Block& block, std::size_t pages);
  void bin(Block& block);
  Block& join(Block& block);
  void absorb_right(Block& block);
  static Run run_around(Block& seed, std::size_t most);

  [[nodiscard]] Bins& empty_bins(Rest rest);

  Bins full_{Bins::First::Newest}, evicted_{Bins::First::Oldest};
  Bins open_{Bins::First::Newest}, odd_{Bins::First::Newest}, closed_{Bins::First::Newest};
  Bins apart_{Bins::First::Newest};
  std::vector<std::unique_ptr<Block[]>> owned_;
  Block* unused_ = nullptr;  // linked by `right`
  Block* first_;
};

}  // namespace weir::pages
