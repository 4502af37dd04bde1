#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::cost {

// Sums of a prefix of numbers that change.
class Fenwick {
 public:
  explicit Fenwick(std::size_t size) : sums_(size + 1, 0) {}

  void add(std::size_t at, std::int64_t amount) {
    for (++at; at < sums_.size(); at += at & (~at + 1)) sums_[at] += amount;
  }
  // Of those from `first` up to, not including, `end`.
  [[nodiscard]] std::int64_t between(std::size_t first, std::size_t end) const {
    return before(end) - before(first);
  }

 private:
  [[nodiscard]] std::int64_t before(std::size_t end) const {
    std::int64_t sum = 0;
    for (; end > 0; end &= end - 1) sum += sums_[end];
    return sum;
  }

  std::vector<std::int64_t> sums_;
};

}  // namespace weir::cost
