#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace weir::tier {

// Offsets, lengths and memory of direct transfers are multiples of it.
inline constexpr std::int64_t kPage = 4096;

struct FreePages {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Pages = std::unique_ptr<std::byte, FreePages>;

// Memory that begins at a page boundary and goes on to one: direct transfers need no copy of it.
[[nodiscard]] inline Pages make_pages(std::size_t size) {
  constexpr std::size_t kPageSize = kPage;
  void* const memory =
      std::aligned_alloc(kPageSize, (size + kPageSize - 1) / kPageSize * kPageSize);
  if (memory == nullptr) throw std::bad_alloc{};
  return Pages{static_cast<std::byte*>(memory)};
}

}  // namespace weir::tier
