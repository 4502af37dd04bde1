#include "trace/layout_table.h"

#include <algorithm>
#include <iterator>

namespace weir::trace {
namespace {

std::size_t hash_of(const Layout& layout) {
  std::size_t hash = std::hash<std::string_view>{}(layout.dtype);
  auto mix = [&](std::int64_t number) {
    hash = (hash ^ static_cast<std::size_t>(number)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  std::ranges::for_each(layout.shape, mix);
  std::ranges::for_each(layout.strides, mix);
  mix(layout.offset);
  return hash;
}

}  // namespace

std::uint32_t LayoutTable::find_or_add(const Layout& layout) {
  if (layout.dtype.empty()) return 0;
  const std::size_t hash = hash_of(layout);
  auto [known, end] = by_hash_.equal_range(hash);
  for (; known != end; ++known)
    if (is(known->second, layout)) return known->second;
  Part part{.dtype = dtype(layout.dtype),
            .rank = static_cast<std::uint32_t>(layout.shape.size()),
            .first = numbers_.size()};
  std::ranges::copy(layout.shape, std::back_inserter(numbers_));
  std::ranges::copy(layout.strides, std::back_inserter(numbers_));
  numbers_.push_back(layout.offset);
  parts_.push_back(part);
  by_hash_.emplace(hash, size() - 1);
  return size() - 1;
}

Layout LayoutTable::operator[](std::uint32_t number) const {
  const Part& part = parts_[number];
  auto numbers = std::span(numbers_).subspan(part.first, 2 * part.rank + 1);
  return {.dtype = dtypes_[part.dtype],
          .shape = numbers.first(part.rank),
          .strides = numbers.subspan(part.rank, part.rank),
          .offset = numbers.back()};
}

bool LayoutTable::is(std::uint32_t number, const Layout& layout) const {
  const Layout known = (*this)[number];
  return known.dtype == layout.dtype && std::ranges::equal(known.shape, layout.shape) &&
         std::ranges::equal(known.strides, layout.strides) && known.offset == layout.offset;
}

std::uint32_t LayoutTable::dtype(std::string_view name) {
  auto known = std::ranges::find(dtypes_, name);
  if (known == dtypes_.end()) known = dtypes_.insert(known, std::string(name));
  return static_cast<std::uint32_t>(known - dtypes_.begin());
}

}  // namespace weir::trace
