#pragma once

#include "pages/chunk.h"
#include "pages/shelves.h"

namespace weir::pages {

// Pages of neighbours that lie in place without a gap: the last `pages` pages before the end of
// what `last` holds. Every block of the run but the last is full.
struct Run {
  Block* first = nullptr;
  Block* last = nullptr;
  std::size_t pages = 0;

  [[nodiscard]] Span span() const {
    return {last->address + last->range.held * kPage - pages * kPage, pages};
  }
  [[nodiscard]] std::uint32_t mappings() const;       // how many it is, about
  [[nodiscard]] Run ending(std::size_t count) const;  // its last `count` pages
};

// Blocks that are not in use: ranges without pages, and the donors, from which pages can be taken.
// Free ones come before evicted ones, whose contents may still be asked for.
class Donors {
 public:
  // Puts a free or evicted block where it belongs by what it holds.
  void add(Block& block);
  static void remove(Block& block) { Shelves::remove(block); }

  [[nodiscard]] Block* whole(std::size_t pages) { return whole_.newest(pages); }
  [[nodiscard]] Block* empty(std::size_t capacity) { return empty_.newest(capacity); }

  // Up to `most` pages, if one donor can give `least`, else as many as there are in one run.
  // A run without pages: there are no donors.
  [[nodiscard]] Run find(std::size_t least, std::size_t most);
  [[nodiscard]] Run find_free();  // the largest free run, evicted blocks left alone

 private:
  Shelves rests_;    // free, part of their pages taken; by pages held
  Shelves whole_;    // free, can be used again as they are; by pages held
  Shelves evicted_;  // by pages held
  Shelves empty_;    // free ranges without pages; by capacity
};

}  // namespace weir::pages
