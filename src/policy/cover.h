#pragma once

#include <vector>

#include "weir/policy.h"

namespace weir::policy {

// Who goes, if bytes lack that one victim may not free alone. Taking the lowest score again and
// again, one may give up something small first and then something that would have been enough
// without it. So of those taken whoever the others can do without stays, the highest score first.
class Cover {
 public:
  void clear() { all_.clear(); }
  void add(StorageId storage, double score, Bytes size) { all_.push_back({score, size, storage}); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

  // Of those that go the one with the lowest score, or kNoStorage; equal ones: the one added last.
  // If all of them are too few, the lowest. Leaves nothing added.
  [[nodiscard]] StorageId first(Bytes lack);

 private:
  struct Entry {
    double score;
    Bytes size;
    StorageId storage;
    std::size_t number = 0;  // as added
  };

  // Ascending by score, as many as are enough; true if they are.
  [[nodiscard]] bool take(Bytes lack);

  std::vector<Entry> all_;
  std::vector<Entry> taken_;
};

}  // namespace weir::policy
