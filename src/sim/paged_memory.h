#pragma once

#include <cstdint>
#include <vector>

#include "pages/arena.h"
#include "pages/paper_vm.h"
#include "weir/trace.h"

namespace weir::sim {

// Where the storages of a replay would be: the runtime's arena, on addresses that nothing is
// behind. Where free memory lies scattered, pages have to be moved or written to anew, and that
// takes time. As in the runtime, what is evicted comes back wherever there is room.
class PagedMemory {
 public:
  PagedMemory(Bytes budget, const PageCosts& costs);

  // The op that runs makes this output, and takes this much for a while.
  void make(std::uint32_t output, Bytes size);
  void borrow(Bytes scratch);
  // What was made is the storage's bytes now, or nobody's.
  void adopt(StorageId storage, std::uint32_t output);
  void reject(std::uint32_t output);
  // The storage's bytes are given up; nothing refers to it any more.
  void evict(StorageId storage);
  void free(StorageId storage);

  // What pages have cost since the last call.
  [[nodiscard]] Nanos take_spent();

 private:
  explicit PagedMemory(Bytes budget, std::unique_ptr<pages::PaperVm> vm);
  [[nodiscard]] pages::Block* allocate(Bytes size);
  void free(pages::Block*& block);

  const pages::PaperVm& vm_;
  pages::Arena arena_;
  // Null: no bytes, or less than a page, of which the runtime's slabs hold many.
  std::vector<pages::Block*> made_;    // by output
  std::vector<pages::Block*> blocks_;  // by storage
  double told_ns_ = 0;
};

}  // namespace weir::sim
