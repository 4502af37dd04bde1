#include "pages/shelves.h"

#include <iterator>

#include "base/check.h"

namespace weir::pages {

Shelf& Shelves::shelf(std::size_t number) {
  return number < small_.size() ? small_[number] : large_[number];
}

void Shelves::add(Block& block, std::size_t number) {
  WEIR_CHECK(block.range.shelf == nullptr, block.pages);
  Shelf& to = shelf(number);
  if (!to.listed) {
    listed_.emplace(number, &to);
    to.number = number;
    to.listed = true;
  }
  block.range.shelf = &to;
  block.range.before = to.newest;
  block.range.after = nullptr;
  (to.newest == nullptr ? to.oldest : to.newest->range.after) = &block;
  to.newest = &block;
}

void Shelves::remove(Block& block) {
  Shelf* from = block.range.shelf;
  if (from == nullptr) return;
  Block* before = block.range.before;
  Block* after = block.range.after;
  (before == nullptr ? from->oldest : before->range.after) = after;
  (after == nullptr ? from->newest : after->range.before) = before;
  block.range.shelf = nullptr;
}

Block* Shelves::newest(std::size_t number) {
  if (number < small_.size()) return small_[number].newest;
  const auto found = large_.find(number);
  return found == large_.end() ? nullptr : found->second.newest;
}

Block* Shelves::at_least(std::size_t number) {
  for (auto at = listed_.lower_bound(number); at != listed_.end(); at = listed_.erase(at)) {
    if (at->second->oldest != nullptr) return at->second->oldest;
    at->second->listed = false;
  }
  return nullptr;
}

Block* Shelves::largest() {
  while (!listed_.empty()) {
    const auto last = std::prev(listed_.end());
    if (last->second->oldest != nullptr) return last->second->oldest;
    last->second->listed = false;
    listed_.erase(last);
  }
  return nullptr;
}

}  // namespace weir::pages
