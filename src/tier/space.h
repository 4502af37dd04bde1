#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "weir/types.h"

namespace weir::tier {

// Which bytes of [0, capacity) are taken. Best fit, the lowest of equals: the large free range at
// the end is broken into last, so a file grows only when nothing behind its end of data would do.
class Space {
 public:
  explicit Space(Bytes capacity);

  // Where `size` bytes begin that are taken from now on; nothing if no free range is that long.
  [[nodiscard]] std::optional<Bytes> take(Bytes size);
  // Joins the range with its free neighbours.
  void give(Bytes at, Bytes size);

  // All of the range is taken. (By one slot or by several: that is not known here.)
  [[nodiscard]] bool taken(Bytes at, Bytes size) const;
  [[nodiscard]] Bytes capacity() const { return capacity_; }
  [[nodiscard]] Bytes used() const { return used_; }
  // Verifies the whole state; O(n).
  void check() const;

 private:
  void add_hole(Bytes at, Bytes size);
  void remove_hole(std::map<Bytes, Bytes>::iterator hole);

  // The free ranges, twice: no two touch, and together with used_ they make up the capacity.
  std::map<Bytes, Bytes> by_place_;            // where it begins, how long it is
  std::set<std::pair<Bytes, Bytes>> by_size_;  // how long it is, where it begins
  Bytes capacity_;
  Bytes used_;
};

}  // namespace weir::tier
