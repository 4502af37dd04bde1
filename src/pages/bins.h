#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "pages/block.h"

namespace weir::pages {

// Blocks in the order in which they came.
struct Bin {
  class Bins* of = nullptr;
  Block* oldest = nullptr;
  Block* newest = nullptr;
};

// Blocks by a number of pages: exact below 16, then sixteen bins an octave. Everything takes
// constant time.
class Bins {
 public:
  enum class First : std::uint8_t { Oldest, Newest };
  explicit Bins(First first);
  Bins(const Bins&) = delete;
  Bins& operator=(const Bins&) = delete;

  void add(Block& block, std::size_t number);
  static void remove(Block& block);  // from the bin it is in, if any

  // A block of this number or little more, if there is one; which of several, First says.
  [[nodiscard]] Block* at_least(std::size_t number) const;
  // One of the largest, one of the smallest.
  [[nodiscard]] Block* largest() const;
  [[nodiscard]] Block* smallest() const;
  // Up to so many, from the largest on.
  template <typename Visit>
  void visit_largest(int most, Visit&& visit) const;

 private:
  static constexpr std::size_t kBins = 512;

  [[nodiscard]] Block* first(std::size_t bin) const;
  [[nodiscard]] std::size_t next_used(std::size_t bin) const;
  void mark(std::size_t bin, bool used);

  First first_;
  std::array<Bin, kBins> bins_;
  std::array<std::uint64_t, kBins / 64> used_{};
};

template <typename Visit>
void Bins::visit_largest(int most, Visit&& visit) const {
  for (std::size_t word = used_.size(); word-- > 0;) {
    for (std::uint64_t left = used_[word]; left != 0;) {
      const auto bit = static_cast<std::size_t>(std::bit_width(left)) - 1;
      left ^= std::uint64_t{1} << bit;
      for (Block* b = bins_[word * 64 + bit].newest; b != nullptr; b = b->range.older) {
        if (most-- == 0) return;
        visit(*b);
      }
    }
  }
}

}  // namespace weir::pages
