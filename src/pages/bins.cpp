#include "pages/bins.h"

#include <bit>

#include "base/check.h"

namespace weir::pages {

namespace {
constexpr std::size_t kExact = 16;  // also the number of bins in an octave
constexpr int kLooks = 8;           // blocks of its own bin that a search looks at

std::size_t bin_of(std::size_t number) {
  if (number < kExact) return number;
  const auto octave = static_cast<std::size_t>(std::bit_width(number)) - 5;
  return kExact * octave + (number >> octave);
}
}  // namespace

Bins::Bins(First first) : first_{first} {
  for (Bin& bin : bins_) bin.of = this;
}

void Bins::mark(std::size_t bin, bool used) {
  const std::uint64_t bit = std::uint64_t{1} << (bin % 64);
  used ? used_[bin / 64] |= bit : used_[bin / 64] &= ~bit;
}

void Bins::add(Block& block, std::size_t number) {
  Range& range = block.range;
  WEIR_CHECK(range.bin == nullptr, block.pages);
  const std::size_t index = bin_of(number);
  WEIR_CHECK(index < kBins, number);
  Bin& bin = bins_[index];
  if (bin.newest == nullptr) mark(index, true);
  range.bin = &bin;
  range.number = number;
  range.older = bin.newest;
  range.newer = nullptr;
  (bin.newest == nullptr ? bin.oldest : bin.newest->range.newer) = &block;
  bin.newest = &block;
}

void Bins::remove(Block& block) {
  Bin* bin = block.range.bin;
  if (bin == nullptr) return;
  Block *older = block.range.older, *newer = block.range.newer;
  (older == nullptr ? bin->oldest : older->range.newer) = newer;
  (newer == nullptr ? bin->newest : newer->range.older) = older;
  block.range.bin = nullptr;
  if (bin->newest == nullptr)
    bin->of->mark(static_cast<std::size_t>(bin - bin->of->bins_.data()), false);
}

Block* Bins::first(std::size_t bin) const {
  return first_ == First::Newest ? bins_[bin].newest : bins_[bin].oldest;
}

std::size_t Bins::next_used(std::size_t bin) const {
  for (std::size_t word = bin / 64; word < used_.size(); ++word) {
    const std::uint64_t cut =
        word == bin / 64 ? ~std::uint64_t{0} << (bin % 64) : ~std::uint64_t{0};
    if ((used_[word] & cut) != 0)
      return word * 64 + static_cast<std::size_t>(std::countr_zero(used_[word] & cut));
  }
  return kBins;
}

// Blocks in the bin of the number itself may be too small; in the next ones all are large enough.
Block* Bins::at_least(std::size_t number) const {
  const std::size_t own = bin_of(number);
  Block* best = nullptr;
  Block* block = first(own);
  for (int looks = 0; block != nullptr && looks < kLooks; ++looks) {
    const std::size_t has = block->range.number;
    if (has == number) return block;
    if (has > number && (best == nullptr || has < best->range.number)) best = block;
    block = first_ == First::Newest ? block->range.older : block->range.newer;
  }
  if (best != nullptr) return best;
  const std::size_t bin = next_used(own + 1);
  return bin < kBins ? first(bin) : nullptr;
}

Block* Bins::smallest() const {
  const std::size_t bin = next_used(0);
  return bin < kBins ? first(bin) : nullptr;
}

Block* Bins::largest() const {
  for (std::size_t word = used_.size(); word-- > 0;)
    if (used_[word] != 0)
      return first(word * 64 + 63 - static_cast<std::size_t>(std::countl_zero(used_[word])));
  return nullptr;
}

}  // namespace weir::pages
