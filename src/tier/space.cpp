#include "tier/space.h"

#include <iterator>

#include "base/check.h"

namespace weir::tier {

Space::Space(Bytes capacity) : capacity_{capacity} {
  if (capacity.n > 0) add_hole({}, capacity);
}

std::optional<Bytes> Space::take(Bytes size) {
  WEIR_CHECK(size.n > 0, size);
  const auto best = by_size_.lower_bound({size, Bytes{}});
  if (best == by_size_.end()) return std::nullopt;
  const auto [length, at] = *best;
  remove_hole(by_place_.find(at));
  if (length > size) add_hole(at + size, length - size);
  used_ += size;
  return at;
}

void Space::give(Bytes at, Bytes size) {
  WEIR_CHECK(taken(at, size), at, size);
  Bytes begin = at, end = at + size;
  auto next = by_place_.lower_bound(at);
  if (next != by_place_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == at) {
      begin = before->first;
      remove_hole(before);
    }
  }
  if (next != by_place_.end() && next->first == end) {
    end += next->second;
    remove_hole(next);
  }
  add_hole(begin, end - begin);
  used_ -= size;
}

bool Space::taken(Bytes at, Bytes size) const {
  if (at.n < 0 || size.n <= 0 || at + size > capacity_) return false;
  const auto next = by_place_.lower_bound(at);
  if (next != by_place_.end() && next->first < at + size) return false;
  if (next == by_place_.begin()) return true;
  const auto before = std::prev(next);
  return before->first + before->second <= at;
}

void Space::check() const {
  WEIR_CHECK(by_place_.size() == by_size_.size(), by_place_.size(), by_size_.size());
  Bytes unused{}, last_end{-1};
  for (const auto& [at, size] : by_place_) {
    WEIR_CHECK(at > last_end, at, last_end);
    WEIR_CHECK(size.n > 0 && by_size_.contains({size, at}), at, size);
    last_end = at + size;
    unused += size;
  }
  WEIR_CHECK(last_end <= capacity_, last_end, capacity_);
  WEIR_CHECK(unused + used_ == capacity_, unused, used_, capacity_);
}

void Space::add_hole(Bytes at, Bytes size) {
  by_place_.emplace(at, size);
  by_size_.emplace(size, at);
}

void Space::remove_hole(std::map<Bytes, Bytes>::iterator hole) {
  by_size_.erase({hole->second, hole->first});
  by_place_.erase(hole);
}

}  // namespace weir::tier
