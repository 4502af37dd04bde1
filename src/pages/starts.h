#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "pages/block.h"

namespace weir::pages {

// Live blocks by their first page. Reading takes no lock and never allocates.
class Starts {
 public:
  explicit Starts(Span all);
  Starts(const Starts&) = delete;
  Starts& operator=(const Starts&) = delete;
  ~Starts();

  void set(const std::byte* address, Block* block);
  // The last block that starts at this address or before, and how many pages before; whether it
  // reaches as far is the caller's question. Null: there is none.
  struct Found {
    Block* block = nullptr;
    std::size_t pages_before = 0;
  };
  [[nodiscard]] Found at_or_before(const void* address) const;

 private:
  struct Leaf {
    std::atomic<Block*> blocks[kGranule] = {};
    std::atomic<std::size_t> count{0};  // not null
  };

  Span all_;
  std::atomic<Leaf*>* leaves_;       // one a granule; memory appears where it is touched
  std::atomic<std::size_t> end_{0};  // pages; there never was a block behind
  std::vector<std::unique_ptr<Leaf>> owned_;
};

}  // namespace weir::pages
