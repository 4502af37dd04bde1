#include "policy/cover.h"

#include <algorithm>

namespace weir::policy {

bool Cover::take(Bytes lack) {
  const auto later = [](const Entry& a, const Entry& b) {
    return a.score != b.score ? a.score > b.score : a.number < b.number;
  };
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i].number = i;
  std::ranges::make_heap(all_, later);
  taken_.clear();
  Bytes freed;
  while (!all_.empty() && (taken_.empty() || freed < lack)) {
    std::ranges::pop_heap(all_, later);
    taken_.push_back(all_.back());
    freed += all_.back().size;
    all_.pop_back();
  }
  return freed >= lack;
}

StorageId Cover::first(Bytes lack) {
  const bool enough = take(lack);
  all_.clear();
  if (taken_.empty()) return kNoStorage;
  if (!enough) return taken_.front().storage;
  Bytes spare{-lack.n};
  for (const Entry& entry : taken_) spare += entry.size;
  // The last one is needed, or it would not have been taken.
  std::size_t first = taken_.size() - 1;
  for (std::size_t i = taken_.size() - 1; i-- > 0;) {
    if (taken_[i].size <= spare)
      spare -= taken_[i].size;
    else
      first = i;
  }
  return taken_[first].storage;
}

}  // namespace weir::policy
