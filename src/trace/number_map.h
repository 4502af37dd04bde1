#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir::trace {

// From the numbers a file uses to the dense ones we use. A recorder counts upwards, so numbers
// from the first one seen on sit in a table; all others are in a hash map. The table never has
// more than `most_table` entries: a number in a file must not decide how much memory we take.
class NumberMap {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit NumberMap(std::size_t most_table) : most_table_{most_table} {}

  [[nodiscard]] std::uint32_t find(std::uint64_t number) const {
    std::uint64_t place = number - first_;  // wraps for smaller ones: not in the table
    if (place < table_.size()) return table_[place];
    if (place < most_table_ || others_.empty()) return kNone;
    auto other = others_.find(number);
    return other == others_.end() ? kNone : other->second;
  }

  void set(std::uint64_t number, std::uint32_t value) {
    if (table_.empty()) first_ = number;
    std::uint64_t place = number - first_;
    if (place >= most_table_) {
      others_[number] = value;
      return;
    }
    if (place >= table_.size()) grow_to_hold(place);
    table_[place] = value;
  }

 private:
  void grow_to_hold(std::uint64_t place) {
    std::size_t wanted = std::max<std::size_t>({place + 1, 2 * table_.size(), 64});
    table_.resize(std::min(wanted, most_table_), kNone);
  }

  std::size_t most_table_;
  std::uint64_t first_ = 0;
  std::vector<std::uint32_t> table_;
  std::unordered_map<std::uint64_t, std::uint32_t> others_;
};

}  // namespace weir::trace
