#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "pages/vm.h"

namespace weir::pages {

struct Block;
struct Bin;

enum class Life : std::uint8_t { Free, Resident, Evicted };

// What is behind the pages that a block holds.
enum class Rest : std::uint8_t {
  Odd,     // as pages that moved away left it: one or the other
  Open,    // it can be written to: pages appear
  Closed,  // every access faults
  Apart,   // so too; addresses for blocks without pages, away from those that have some
};

// What the arena knows about the addresses of a block. Pages are in place only from its start on:
// [0, held). Nobody but the arena reads or writes this.
struct Range {
  Life life = Life::Free;
  bool robbed = false;  // evicted, and pages have been taken since
  bool sealed = false;  // every access to what is held faults
  Rest rest = Rest::Closed;
  std::size_t held = 0;   // a free block holds all of its pages or none
  Block* left = nullptr;  // the neighbours: blocks lie side by side without a gap
  Block* right = nullptr;
  std::atomic<std::size_t> live_pages = 0;  // 0: not live; what find() looks at

  // The one bin it is in, if any; resident blocks are in none.
  Bin* bin = nullptr;
  std::size_t number = 0;
  Block* older = nullptr;
  Block* newer = nullptr;
};

// One range of addresses that a program sees: pages come and go, the address stays.
struct Block {
  std::byte* address = nullptr;
  std::size_t pages = 0;
  void* owner = nullptr;  // the user's own; null in a new block

  Range range;

  [[nodiscard]] Span span() const { return {address, pages}; }
  [[nodiscard]] Span held() const { return {address, range.held}; }
};

}  // namespace weir::pages
