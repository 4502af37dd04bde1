#include "pages/arena.h"

#include <algorithm>

#include "base/check.h"

namespace weir::pages {

namespace {

constexpr Bytes bytes(std::size_t pages) { return {static_cast<std::int64_t>(pages * kPage)}; }

std::size_t pages_for(Bytes size) {
  WEIR_CHECK(size.n >= 0 && size <= kMostBytes, size);
  return std::max<std::size_t>(1, (static_cast<std::size_t>(size.n) + kPage - 1) / kPage);
}

std::size_t whole_pages(Bytes size) {
  WEIR_CHECK(size.n >= 0, size);
  return static_cast<std::size_t>(size.n) / kPage;
}

// Other parts of the process have mappings too.
std::size_t most_of(std::size_t mappings) { return mappings - mappings / 4; }

}  // namespace

NoPages::NoPages(const char* why, Bytes need, Bytes in_use, Bytes cap)
    : text_{std::string{why} + ": " + std::to_string(need.n) + " bytes are needed, " +
            std::to_string(in_use.n) + " of " + std::to_string(cap.n) + " are in use"} {}

Arena::Arena(Bytes cap, const ArenaOptions& options)
    : vm_{options.address_space, options.remap, options.huge_pages},
      chunks_{vm_.all()},
      cap_{whole_pages(cap)},
      many_mappings_{most_of(options.most_mappings > 0 ? options.most_mappings : most_mappings())} {
}

void Arena::refuse(const char* why, std::size_t pages) const {
  throw NoPages{why, bytes(pages), bytes(in_use_), bytes(cap_)};
}

void Arena::must(bool done, std::size_t pages) const {
  if (!done) refuse("the system refuses memory or mappings (see vm.max_map_count)", pages);
}

void Arena::expect_room(std::size_t pages) const {
  if (in_use_ + pages > cap_) refuse("more pages in use than the cap allows", pages);
}

Block& Arena::allocate(Bytes size) {
  const std::size_t pages = pages_for(size);
  const std::lock_guard lock{mutex_};
  expect_room(pages);
  Block* block = donors_.whole(pages);
  if (block != nullptr) {
    make_writable(*block);
    Donors::remove(*block);
    ++counters_.reuses;
  } else {
    block = &empty_range(pages);
    Donors::remove(*block);
    block->pages = pages;
    fill_as_resident(*block);
  }
  block->pages = pages;
  settle(*block, Life::Resident);
  WEIR_CHECK(committed_ <= cap_ && in_use_ <= committed_, in_use_, committed_, cap_);
  return *block;
}

bool Arena::restore(Block& block) {
  const std::lock_guard lock{mutex_};
  WEIR_CHECK(block.range.life == Life::Evicted, block.pages);
  expect_room(block.pages);
  const bool untouched = !block.range.robbed;
  Donors::remove(block);
  fill_as_resident(block);
  settle(block, Life::Resident);
  WEIR_CHECK(committed_ <= cap_ && in_use_ <= committed_, in_use_, committed_, cap_);
  return untouched;
}

// The only place where a block's life changes for good; see fill_as_resident().
void Arena::settle(Block& block, Life life) {
  block.range.life = life;
  block.range.robbed = false;
  if (life == Life::Resident) {
    in_use_ += block.pages;
    WEIR_CHECK(block.range.held == block.pages, block.range.held, block.pages);
  } else {
    donors_.add(block);
  }
  if (life == Life::Free) block.owner = nullptr;
  block.range.live_pages.store(life == Life::Free ? 0 : block.pages, std::memory_order_release);
}

void Arena::evict(Block& block) {
  const std::lock_guard lock{mutex_};
  WEIR_CHECK(block.range.life == Life::Resident, block.pages);
  in_use_ -= block.pages;
  settle(block, Life::Evicted);
  shrink();
}

void Arena::free(Block& block) {
  const std::lock_guard lock{mutex_};
  release(block);
  shrink();
}

void Arena::release(Block& block) {
  WEIR_CHECK(block.range.life != Life::Free, block.pages);
  if (block.range.life == Life::Resident) in_use_ -= block.pages;
  Donors::remove(block);
  settle(block, Life::Free);
}

void Arena::adopt(Block& target, Block& from) {
  const std::lock_guard lock{mutex_};
  WEIR_CHECK(target.range.life == Life::Evicted && from.range.life == Life::Resident);
  WEIR_CHECK(target.pages == from.pages, target.pages, from.pages);
  move_aside(target);
  hand_over(target, from);
  in_use_ -= from.pages;
  settle(from, Life::Free);
  settle(target, Life::Resident);
  shrink();
}

Block* Arena::find(const void* address) const {
  Block* block = chunks_.find(address);
  if (block == nullptr) return nullptr;
  const std::size_t live = block->range.live_pages.load(std::memory_order_acquire);
  return static_cast<const std::byte*>(address) < block->address + live * kPage ? block : nullptr;
}

void Arena::protect(Block& block, bool writable) {
  const std::lock_guard lock{mutex_};
  WEIR_CHECK(block.range.life == Life::Resident, block.pages);
  const Access access = writable ? Access::ReadWrite : Access::Read;
  if (block.range.access == access) return;
  must(vm_.protect(block.span(), access), block.pages);
  mappings_ -= seams(block);
  block.range.access = access;
  mappings_ += seams(block);
}

void Arena::set_cap(Bytes cap) {
  const std::lock_guard lock{mutex_};
  cap_ = whole_pages(cap);
  shrink();
}

void Arena::give_back_free() {
  const std::lock_guard lock{mutex_};
  for (Run run = donors_.find_free(); run.pages > 0; run = donors_.find_free())
    if (!drop(run)) return;
}

void Arena::check() const {
  const std::lock_guard lock{mutex_};
  std::size_t held = 0, in_use = 0;
  std::int64_t mappings = 1;
  for (const auto& chunk : chunks_.all()) {
    for (std::size_t i = 0; i < chunk->count; ++i) {
      const Block& block = chunk->blocks[i];
      const Range& range = block.range;
      const bool resident = range.life == Life::Resident, free = range.life == Life::Free;
      held += range.held;
      in_use += resident ? block.pages : 0;
      WEIR_CHECK(range.held <= range.extent && range.extent <= range.capacity, range.held);
      WEIR_CHECK(!resident || range.held == block.pages, range.held, block.pages);
      WEIR_CHECK(!resident || range.access != Access::None, block.pages);
      WEIR_CHECK(!range.robbed || range.access == Access::None, block.pages);
      WEIR_CHECK((range.shelf != nullptr) == (free || (!resident && range.held > 0)), range.held);
      WEIR_CHECK(range.live_pages == (free ? 0 : block.pages), block.pages);
    }
    mappings += seams(*chunk);
  }
  WEIR_CHECK(held == committed_, held, committed_);
  WEIR_CHECK(in_use == in_use_, in_use, in_use_);
  WEIR_CHECK(mappings == mappings_, mappings, mappings_);
}

Bytes Arena::cap() const {
  const std::lock_guard lock{mutex_};
  return bytes(cap_);
}

Bytes Arena::committed() const {
  const std::lock_guard lock{mutex_};
  return bytes(committed_);
}

Bytes Arena::in_use() const {
  const std::lock_guard lock{mutex_};
  return bytes(in_use_);
}

Bytes Arena::peak_committed() const {
  const std::lock_guard lock{mutex_};
  return bytes(peak_committed_);
}

void Arena::reset_peak() {
  const std::lock_guard lock{mutex_};
  peak_committed_ = committed_;
}

Counters Arena::counters() const {
  const std::lock_guard lock{mutex_};
  Counters counters = counters_;
  counters.mappings = static_cast<std::uint64_t>(mappings_);
  return counters;
}

}  // namespace weir::pages
