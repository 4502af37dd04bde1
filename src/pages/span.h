#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::pages {

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kGranule = 512;  // pages: 2 MiB, what one page-table page maps

// A range of whole pages.
struct Span {
  std::byte* address = nullptr;
  std::size_t pages = 0;

  [[nodiscard]] std::size_t bytes() const { return pages * kPage; }
  [[nodiscard]] std::byte* end() const { return address + bytes(); }
  // Its pages from `from` up to `to`.
  [[nodiscard]] Span part(std::size_t from, std::size_t to) const {
    return {address + from * kPage, to - from};
  }
};

enum class Access : std::uint8_t { None, ReadWrite };

}  // namespace weir::pages
