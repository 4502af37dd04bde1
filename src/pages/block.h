#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "pages/vm.h"

namespace weir::pages {

struct Chunk;
struct Shelf;

enum class Life : std::uint8_t { Free, Resident, Evicted };

// What the arena knows about the range of addresses of a block. Pages are in place only from the
// start of the range: [0, held). Nobody but the arena reads or writes this.
struct Range {
  Chunk* chunk = nullptr;
  std::size_t capacity = 0;  // pages of address space
  std::size_t held = 0;      // pages in place; held <= extent
  std::size_t extent = 0;    // [0, extent) is mapped with `access`; what is behind it: do not rely
  Access access = Access::None;
  Life life = Life::Free;
  bool robbed = false;       // evicted, and pages have been taken since
  std::uint32_t origin = 0;  // which move brought the mapping here; 0: it is the range's own
  std::uint32_t pieces = 0;  // moves that filled the range since it was last empty
  std::atomic<std::size_t> live_pages = 0;  // 0: not live; what find() looks at

  // The one shelf it is on, if any; resident blocks are on none.
  Shelf* shelf = nullptr;
  struct Block* before = nullptr;
  struct Block* after = nullptr;
};

// One range of addresses that a program sees: pages come and go, the address stays.
struct Block {
  std::byte* address = nullptr;
  std::size_t pages = 0;
  void* owner = nullptr;  // the user's own; null in a new block

  Range range;

  [[nodiscard]] Span span() const { return {address, pages}; }
};

}  // namespace weir::pages
