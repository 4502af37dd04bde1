#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "pages/heap.h"
#include "pages/starts.h"
#include "weir/types.h"

namespace weir::pages {

// Pages were asked for that are not there: the caller's ledger let more be in use than the cap
// (the usual cause), or the system refused memory, mappings or addresses. Nothing has changed for
// the caller: a block to be restored is still evicted.
class NoPages : public std::bad_alloc {
 public:
  NoPages(const char* why, Bytes need, Bytes in_use, Bytes cap);
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

#if defined(__SANITIZE_THREAD__)
#define WEIR_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEIR_THREAD_SANITIZER 1
#endif
#endif

struct ArenaOptions {
#ifdef WEIR_THREAD_SANITIZER
  Bytes address_space{std::int64_t{1} << 38};  // the sanitizer leaves a program little more
#else
  Bytes address_space{std::int64_t{1} << 44};  // 16 TiB, or what the system allows
#endif
  std::size_t most_mappings = 0;  // 0: the system's limit
  std::size_t worth_moving = 0;   // pages; fewer are not moved. 0: what measuring says
  Remap remap = system_remap;
};

// Where all of the cap is in use, what is free lies in pieces too small for what is wanted. If one
// page in so many stays free, pages move a third as often.
inline constexpr std::int64_t kReserveOneIn = 32;

struct Counters {
  std::uint64_t moves = 0;     // calls that moved pages from one address to another
  std::uint64_t commits = 0;   // pages taken fresh from the system
  std::uint64_t discards = 0;  // pages given back to the system
  std::uint64_t reuses = 0;    // allocations that found free pages in place
  std::uint64_t mappings = 0;  // that the arena has now; no fewer than there are
};

// Address ranges whose pages come and go while the address stays. Pages are recycled: a free block
// keeps them for the next that fits in, the warmest first, and free neighbours are one. Pages move
// between addresses when no free block is large enough or when their owner is evicted. At most
// cap() bytes of pages exist, resident, evicted and free together.
//
// The caller sees to it that the pages in use and those it asks for stay within the cap; then
// allocate() and restore() find them whatever the mix of sizes was, because pages can be moved.
//
// Any thread may call; a call never calls out.
class Arena {
 public:
  explicit Arena(Bytes cap, const ArenaOptions& options = {});
  Arena(Bytes cap, std::unique_ptr<Vm> vm, const ArenaOptions& options = {});

  // A new address with pages that can be read and written; the contents are undefined. The
  // alignment is a power of two.
  Block& allocate(Bytes size, Bytes alignment = {kPage});

  // An address without pages, as if the block had been evicted: every access faults. Null: there
  // are no more addresses.
  Block* reserve(Bytes size);

  // Gives the pages up. The address stays taken. The pages stay where they are, and can be read,
  // until somebody needs them; from then on every access to the block faults.
  void evict(Block& block);

  // The evicted block has writable pages again. True: they are those it had, with the contents
  // from before evict(), or what was written since; false: the contents are undefined.
  bool restore(Block& block);

  // The evicted `target` gets the pages of `from` with their contents, and is writable; `from`,
  // which is resident and of the same length, is freed. Whoever reads `target` meanwhile faults or
  // reads the new contents (unless the system cannot move pages, and they must be copied).
  void adopt(Block& target, Block& from);

  // The address and the pages, if it still has any, may be used again; the block is gone.
  void free(Block& block);

  // The live block, resident or evicted, that has this address, or null. Takes no lock, may be
  // called in a signal handler.
  [[nodiscard]] Block* find(const void* address) const;

  // All addresses that blocks can have.
  [[nodiscard]] Span addresses() const { return vm_->all(); }

  // May be lower than committed(): pages of free blocks, then of evicted ones, go back to the
  // system. If even what is in use is more, nothing can be allocated or restored, and what is
  // freed or evicted goes back at once, until it fits.
  void set_cap(Bytes cap);

  // Gives the pages of free blocks back to the system. In a forked child they would otherwise be
  // copied one by one when the parent writes to its own.
  void give_back_free();

  [[nodiscard]] Bytes cap() const;
  [[nodiscard]] Bytes committed() const;  // pages of all blocks, also free and evicted ones
  [[nodiscard]] Bytes in_use() const;     // pages of resident blocks
  [[nodiscard]] Bytes peak_committed() const;
  void reset_peak();  // to what is committed now
  [[nodiscard]] Counters counters() const;

  void check() const;  // the whole state; takes time with the number of blocks

  // For pthread_atfork: nobody is inside the arena between these two.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  void expect_room(std::size_t pages) const;
  void must(bool done, std::size_t pages) const;
  [[noreturn]] void refuse(const char* why, std::size_t pages) const;
  void settle(Block& block, Life life);
  void release(Block& block);

  template <typename Search>
  Block* find_or_melt(const Search& search);
  Block& empty_range(std::size_t pages, std::size_t alignment);
  Block* find_or_gather(std::size_t pages, std::size_t alignment);
  Block* gather_stock(std::size_t pages);
  Block* mend_gap(std::size_t pages);
  [[nodiscard]] bool take_granules(Block& block);
  Block* cut_granules(std::size_t pages);
  void take_part(Block& part, Block& to);
  Block& bring_together(const Run& run);
  void fill(Block& block);
  void fill_as_resident(Block& block);
  void commit(Block& block);
  [[nodiscard]] bool crowded();
  void melt();
  [[nodiscard]] bool worth_moving(const Run& run, std::size_t target);
  void take(const Run& run, Block& to);
  [[nodiscard]] bool seal(const Run& run);
  void unseal(Block& block);
  [[nodiscard]] bool drop(const Run& run);
  [[nodiscard]] bool drop_small(std::size_t least);
  void shrink();
  void move_aside(Block& evicted);
  void hand_over(Block& target, const Block& from);
  void copy_contents(const Block& target, const Block& from);

  mutable std::mutex mutex_;
  std::unique_ptr<Vm> vm_;
  Heap heap_;
  Starts starts_;

  std::size_t cap_;            // pages, as the next three
  std::size_t committed_ = 0;  // the sum of what all blocks hold
  std::size_t in_use_ = 0;
  std::size_t peak_committed_ = 0;
  std::size_t many_mappings_;  // from here on pages are not moved
  std::size_t recount_at_;     // mappings
  bool crowded_ = false;       // there were many when they were last counted
  std::size_t worth_moving_;
  // Something was evicted: pages come and go all the time. Only then are huge ones worth it; where
  // they stay, they made training slower as often as faster.
  bool short_ = false;
  // What it costs to touch a page first, also one that is a part of a huge page, and to move pages:
  // for the call and for each piece.
  double touch_ns_, huge_touch_ns_, move_ns_;
  Counters counters_;
};

// Addresses without pages; odd ones and those apart become one with their neighbours if that helps.
template <typename Search>
Block* Arena::find_or_melt(const Search& search) {
  if (Block* space = search()) return space;
  melt();
  if (Block* space = search()) return space;
  heap_.set_none_apart();
  return search();
}

}  // namespace weir::pages
