#include "pages/arena.h"

#include <algorithm>
#include <utility>

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

constexpr double kFirstGuess = 8;  // pages whose first touch costs as much as a move

// Other parts of the process have mappings too.
std::size_t most_of(std::size_t mappings) { return mappings - mappings / 4; }

}  // namespace

NoPages::NoPages(const char* why, Bytes need, Bytes in_use, Bytes cap)
    : text_{std::string{why} + ": " + std::to_string(need.n) + " bytes are needed, " +
            std::to_string(in_use.n) + " of " + std::to_string(cap.n) + " are in use"} {}

Arena::Arena(Bytes cap, const ArenaOptions& options)
    : Arena{cap, std::make_unique<SystemVm>(options.address_space, options.remap), options} {}

Arena::Arena(Bytes cap, std::unique_ptr<Vm> vm, const ArenaOptions& options)
    : vm_{std::move(vm)},
      heap_{vm_->all()},
      starts_{vm_->all()},
      cap_{whole_pages(cap)},
      many_mappings_{
          most_of(options.most_mappings > 0 ? options.most_mappings : mappings_allowed())},
      recount_at_{many_mappings_ / 4},
      worth_moving_{options.worth_moving},
      touch_ns_{vm_->first_touch()},
      huge_touch_ns_{std::clamp(vm_->first_huge_touch(), touch_ns_ / 8, touch_ns_)},
      move_ns_{kFirstGuess * touch_ns_} {}

void Arena::refuse(const char* why, std::size_t pages) const {
  throw NoPages{why, bytes(pages), bytes(in_use_), bytes(cap_)};
}

void Arena::must(bool done, std::size_t pages) const {
  if (!done) refuse("the system refuses memory or mappings (see vm.max_map_count)", pages);
}

void Arena::expect_room(std::size_t pages) const {
  if (in_use_ + pages > cap_) refuse("more pages in use than the cap allows", pages);
}

Block& Arena::allocate(Bytes size, Bytes alignment) {
  const std::size_t pages = pages_for(size), aligned = pages_for(alignment);
  const std::lock_guard lock{mutex_};
  expect_room(pages);
  Block* found = find_or_gather(pages, aligned);
  if (found == nullptr) {
    found = &empty_range(pages, aligned);
    fill_as_resident(*found);
  }
  settle(*found, Life::Resident);
  WEIR_CHECK(committed_ <= cap_ && in_use_ <= committed_, in_use_, committed_, cap_);
  return *found;
}

Block* Arena::reserve(Bytes size) {
  const std::size_t pages = pages_for(size);
  const std::lock_guard lock{mutex_};
  short_ = true;
  Block* space = find_or_melt([&] { return heap_.closed(pages); });
  if (space == nullptr) return nullptr;
  Block& block = heap_.cut(*space, pages, 1);
  settle(block, Life::Evicted);
  block.range.robbed = true;
  starts_.set(block.address, &block);
  return &block;
}

bool Arena::restore(Block& block) {
  const std::lock_guard lock{mutex_};
  WEIR_CHECK(block.range.life == Life::Evicted, block.pages);
  expect_room(block.pages);
  const bool untouched = !block.range.robbed;
  Heap::take(block);
  fill_as_resident(block);
  settle(block, Life::Resident);
  WEIR_CHECK(committed_ <= cap_ && in_use_ <= committed_, in_use_, committed_, cap_);
  return untouched;
}

// The only place where a block's life changes for good; see fill_as_resident().
void Arena::settle(Block& block, Life life) {
  block.range.life = life;
  block.range.robbed = false;
  block.range.live_pages.store(life == Life::Free ? 0 : block.pages, std::memory_order_release);
  if (life == Life::Resident) {
    in_use_ += block.pages;
    WEIR_CHECK(block.range.held == block.pages, block.range.held, block.pages);
    starts_.set(block.address, &block);
    return;
  }
  if (life == Life::Free) {
    block.owner = nullptr;
    starts_.set(block.address, nullptr);
  }
  heap_.put(block);
}

void Arena::evict(Block& block) {
  const std::lock_guard lock{mutex_};
  WEIR_CHECK(block.range.life == Life::Resident, block.pages);
  short_ = true;
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
  Heap::take(block);
  unseal(block);
  settle(block, Life::Free);
}

void Arena::adopt(Block& target, Block& from) {
  const std::lock_guard lock{mutex_};
  WEIR_CHECK(target.range.life == Life::Evicted && from.range.life == Life::Resident);
  WEIR_CHECK(target.pages == from.pages, target.pages, from.pages);
  move_aside(target);
  hand_over(target, from);
  target.range.held = std::exchange(from.range.held, 0);
  target.range.rest = from.range.rest = Rest::Odd;
  in_use_ -= from.pages;
  settle(from, Life::Free);
  settle(target, Life::Resident);
  shrink();
}

Block* Arena::find(const void* address) const {
  const auto [block, pages_before] = starts_.at_or_before(address);
  if (block == nullptr) return nullptr;
  return pages_before < block->range.live_pages.load(std::memory_order_acquire) ? block : nullptr;
}

void Arena::set_cap(Bytes cap) {
  const std::lock_guard lock{mutex_};
  cap_ = whole_pages(cap);
  shrink();
}

void Arena::give_back_free() {
  const std::lock_guard lock{mutex_};
  for (Run run = heap_.find_free(); run.pages > 0; run = heap_.find_free())
    if (!drop(run)) return;
}

void Arena::check() const {
  const std::lock_guard lock{mutex_};
  std::size_t held = 0, in_use = 0;
  const std::byte* end = vm_->all().address;
  const Block* left = nullptr;
  for (const Block* block = heap_.first(); block != nullptr; block = block->range.right) {
    const Range& range = block->range;
    const bool resident = range.life == Life::Resident, free = range.life == Life::Free;
    WEIR_CHECK(block->address == end && range.left == left && block->pages > 0, block->pages);
    end = block->span().end();
    left = block;
    held += range.held;
    in_use += resident ? block->pages : 0;
    WEIR_CHECK(range.held <= block->pages, range.held, block->pages);
    WEIR_CHECK(!resident || range.held == block->pages, range.held, block->pages);
    WEIR_CHECK(!free || range.held == block->pages || range.held == 0, range.held, block->pages);
    WEIR_CHECK(!range.sealed || range.life == Life::Evicted, block->pages);
    WEIR_CHECK(!range.robbed || range.held == 0 || range.sealed, block->pages);
    WEIR_CHECK(!Heap::joinable(*block, range.right), block->pages);
    WEIR_CHECK((range.bin != nullptr) == (free || (!resident && range.held > 0)), range.held);
    WEIR_CHECK(range.live_pages == (free ? 0 : block->pages), block->pages);
    WEIR_CHECK((starts_.at_or_before(block->address).block == block) == !free, block->pages);
  }
  WEIR_CHECK(end == vm_->all().end());
  WEIR_CHECK(held == committed_, held, committed_);
  WEIR_CHECK(in_use == in_use_, in_use, in_use_);
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
  counters.mappings = vm_->most_mappings();
  return counters;
}

}  // namespace weir::pages
