#include "cost/fresh.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace weir::cost {
namespace {

// Smaller ones come from what was split off before.
constexpr std::int64_t kSmallest = 4096;
constexpr std::int64_t kFirstThreshold = 128 << 10, kLargestThreshold = 32 << 20;

// A heap whose end moves. Every hole is in both `holes_` and `by_size_`; no two are side by side,
// and none is at the end, where what is free is the top.
class Heap {
 public:
  struct Block {
    std::int64_t at = -1, size = 0;  // at -1: a mapping of its own
  };

  // The block, and how many of its bytes are new.
  std::pair<Block, std::int64_t> allocate(std::int64_t size) {
    const auto hole = by_size_.lower_bound({size, 0});
    if (hole != by_size_.end()) {
      const auto [room, at] = *hole;
      remove_hole(at, room);
      if (room > size) add_hole(at + size, room - size);
      return {{at, size}, 0};
    }
    if (end_ - top_ < size && size > threshold_) return {{-1, size}, size};
    const std::int64_t at = top_, grown = std::max<std::int64_t>(0, top_ + size - end_);
    top_ += size;
    end_ = std::max(end_, top_);
    return {{at, size}, grown};
  }

  void free(Block block) {
    if (block.at < 0) {
      if (block.size <= kLargestThreshold) threshold_ = std::max(threshold_, block.size);
      return;
    }
    const auto after = holes_.lower_bound(block.at);
    if (after != holes_.end() && after->first == block.at + block.size) {
      block.size += after->second;
      remove_hole(after->first, after->second);
    }
    const auto next = holes_.lower_bound(block.at);
    if (next != holes_.begin()) {
      const auto [at, size] = *std::prev(next);
      if (at + size == block.at) {
        remove_hole(at, size);
        block = {at, size + block.size};
      }
    }
    if (block.at + block.size < top_) return add_hole(block.at, block.size);
    top_ = block.at;
    if (end_ - top_ >= 2 * threshold_) end_ = top_;
  }

 private:
  void add_hole(std::int64_t at, std::int64_t size) {
    holes_[at] = size;
    by_size_.emplace(size, at);
  }
  void remove_hole(std::int64_t at, std::int64_t size) {
    holes_.erase(at);
    by_size_.erase({size, at});
  }

  std::map<std::int64_t, std::int64_t> holes_;
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;
  std::int64_t top_ = 0, end_ = 0;
  std::int64_t threshold_ = kFirstThreshold;
};

class Replayed {
 public:
  explicit Replayed(const Trace& trace)
      : trace_{trace}, references_(trace.storages.size()), blocks_(trace.storages.size()) {}

  std::int64_t refer(std::uint32_t tensor) {
    const std::uint32_t storage = index(trace_.tensors[tensor].storage);
    const std::int64_t size = trace_.storages[storage].size.n;
    if (references_[storage]++ > 0 || size < kSmallest) return 0;
    const auto [block, fresh] = heap_.allocate(size);
    blocks_[storage] = block;
    return fresh;
  }

  std::int64_t copy(std::span<const Bytes> sizes) {
    std::vector<Heap::Block> held;
    std::int64_t fresh = 0;
    for (const Bytes size : sizes) {
      if (size.n < kSmallest) continue;
      const auto [block, pages] = heap_.allocate(size.n);
      held.push_back(block);
      fresh += pages;
    }
    for (const Heap::Block& block : held) heap_.free(block);
    return fresh;
  }

  void release(std::uint32_t tensor) {
    const std::uint32_t storage = index(trace_.tensors[tensor].storage);
    if (--references_[storage] > 0 || blocks_[storage].size == 0) return;
    heap_.free(blocks_[storage]);
    blocks_[storage] = {};
  }

 private:
  const Trace& trace_;
  Heap heap_;
  std::vector<std::int64_t> references_;  // of each storage
  std::vector<Heap::Block> blocks_;       // of size 0: none
};

}  // namespace

std::vector<Bytes> fresh_pages(const Trace& trace, const StepRange& range,
                               std::span<const OpWork> works) {
  std::vector<Bytes> fresh(trace.ops.size());
  Replayed memory{trace};
  for (std::size_t i = 0; i < range.end; ++i) {
    const TraceEvent& event = trace.events[i];
    if (event.kind == EventKind::Step) continue;
    if (event.kind == EventKind::Release) {
      memory.release(event.item);
    } else if (event.kind == EventKind::Op) {
      const TraceOp& op = trace.ops[event.item];
      for (std::uint32_t out = op.first_output; out < op.first_output + op.outputs; ++out)
        fresh[event.item] += {memory.refer(out)};
      if (event.item < works.size())
        fresh[event.item] += {memory.copy(works[event.item].cpu.copies)};
    } else {
      (void)memory.refer(event.item);
    }
  }
  return fresh;
}

}  // namespace weir::cost
