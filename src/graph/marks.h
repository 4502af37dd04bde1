#pragma once

#include <vector>

#include "weir/types.h"

namespace weir::graph {

// A set of storages that is emptied in constant time: for graph searches.
class Marks {
 public:
  void clear(std::size_t storages) {
    if (stamps_.size() < storages) stamps_.resize(storages, 0);
    if (++stamp_ == 0) {
      stamps_.assign(stamps_.size(), 0);
      stamp_ = 1;
    }
  }
  // Returns false if it was there already.
  bool insert(StorageId storage) {
    if (stamps_[index(storage)] == stamp_) return false;
    stamps_[index(storage)] = stamp_;
    return true;
  }
  [[nodiscard]] bool contains(StorageId storage) const { return stamps_[index(storage)] == stamp_; }

 private:
  std::vector<std::uint32_t> stamps_;
  std::uint32_t stamp_ = 0;
};

}  // namespace weir::graph
