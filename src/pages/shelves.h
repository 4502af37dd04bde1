#pragma once

#include <array>
#include <map>
#include <unordered_map>

#include "pages/block.h"

namespace weir::pages {

// Blocks of one number, in the order in which they came.
struct Shelf {
  std::size_t number = 0;
  bool listed = false;  // in the ordered list of its shelves
  Block* oldest = nullptr;
  Block* newest = nullptr;
};

// Blocks by a number of pages. Adding, removing and finding an exact number take constant time.
class Shelves {
 public:
  void add(Block& block, std::size_t number);
  static void remove(Block& block);  // from the shelf it is on, if any

  [[nodiscard]] Block* newest(std::size_t number);    // of exactly this number, or null
  [[nodiscard]] Block* at_least(std::size_t number);  // the oldest of the least number that does
  [[nodiscard]] Block* largest();                     // the oldest of the largest number

 private:
  Shelf& shelf(std::size_t number);

  std::array<Shelf, kGranule> small_;
  std::unordered_map<std::size_t, Shelf> large_;
  // Every shelf with blocks, and some without: those are dropped when a search meets them, so that
  // a shelf that is emptied and filled in turn costs nothing.
  std::map<std::size_t, Shelf*> listed_;
};

}  // namespace weir::pages
