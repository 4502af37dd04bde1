// How a block comes by its pages, and how others lose theirs.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "pages/arena.h"

namespace weir::pages {

namespace {
constexpr std::size_t kBatch = 64;       // pages: small blocks are served together up to this sum
constexpr std::size_t kCopyAtOnce = 16;  // pages
// In smaller ones the place of huge pages is too often one that small blocks want next, from where
// pages can be given back only one run at a time.
constexpr std::size_t kLeastForHuge = 2 * kGranule;
constexpr double kForget = 1.0 / 16;  // the weight of the last move in what a move costs
constexpr double kCold = 2;           // fresh pages cost this much more than their first touch

template <typename Visit>
void for_each(const Run& run, Visit&& visit) {
  for (Block* block = run.first;; block = block->range.right) {
    visit(*block);
    if (block == run.last) return;
  }
}

// Pages of large blocks move faster if they begin where a table of pages does: then the tables
// move.
std::size_t natural_alignment(std::size_t pages) { return pages < kGranule ? 1 : kGranule; }

bool has_evicted(const Run& run) {
  bool evicted = false;
  for_each(run, [&](const Block& b) { evicted = evicted || b.range.life == Life::Evicted; });
  return evicted;
}
}  // namespace

// A range without pages, for a block of this length; nobody takes it for free. Small ones are
// opened together, so that they are one mapping and cost no call later.
Block& Arena::empty_range(std::size_t pages, std::size_t alignment) {
  alignment = std::max(alignment, natural_alignment(pages));
  Block* space = find_or_melt([&] { return heap_.empty(pages, alignment); });
  if (space == nullptr) refuse("the address space of the arena is used up", pages);
  if (pages < kGranule && space->range.rest != Rest::Open && space->pages >= 2 * kGranule) {
    Block& granule = heap_.cut(*space, kGranule, kGranule);
    granule.range.rest = vm_->open(granule.span()) ? Rest::Open : Rest::Odd;
    space = &heap_.put(granule);
  }
  Block& range = heap_.cut(*space, pages, alignment);
  range.range.life = Life::Resident;
  return range;
}

// A block whose pages are in place already, or that an evicted one's can be brought to; null: none.
Block* Arena::find_or_gather(std::size_t pages, std::size_t alignment) {
  const std::size_t natural = std::max(alignment, natural_alignment(pages));
  for (const std::size_t tried : {natural, alignment})
    if (Block* found = heap_.full(pages, tried)) {
      ++counters_.reuses;
      return &heap_.cut(*found, pages, tried);
    }
  if (alignment > 1 || committed_ + pages <= cap_) return nullptr;
  if (Block* found = gather_stock(pages)) return &heap_.cut(*found, pages, natural);
  return mend_gap(pages);
}

// Where free neighbours have most of the pages, only the others need to be brought there.
Block* Arena::mend_gap(std::size_t pages) {
  const Gap gap = heap_.gap(pages);
  if (gap.held == 0) return nullptr;
  Block& first = heap_.claim(gap);
  try {
    for (Block* block = &first; block != nullptr && block->address < gap.span.end();
         block = block->range.right)
      fill(*block);
  } catch (const NoPages&) {
    heap_.unclaim(first, gap);
    throw;
  }
  return &heap_.fuse(first, gap);
}

// A block that is being filled must not be taken for a donor.
void Arena::fill_as_resident(Block& block) {
  const Life life = block.range.live_pages == 0 ? Life::Free : Life::Evicted;
  try {
    unseal(block);
    block.range.life = Life::Resident;
    fill(block);
  } catch (const NoPages&) {
    block.range.life = life;
    heap_.put(block);
    throw;
  }
}

void Arena::fill(Block& block) {
  while (block.range.held < block.pages) {
    const std::size_t missing = block.pages - block.range.held;
    if (committed_ + missing <= cap_) return commit(block);
    if (take_granules(block)) continue;
    if (missing < kGranule && heap_.full(missing, 1) == nullptr) gather_stock(missing);
    const Run run = heap_.find(missing, missing);
    WEIR_CHECK(run.pages > 0, missing, committed_, in_use_, cap_);
    if (worth_moving(run, block.pages))
      take(run, block);
    else
      must(drop_small(committed_ + missing - cap_), missing);
  }
}

// Pages that begin where a table of pages does, for a block that goes on at such a place: whole
// tables move, and huge pages stay whole. Of evicted blocks all pages go, since the rest would
// begin elsewhere. False: there are none.
bool Arena::take_granules(Block& block) {
  const std::size_t missing = block.pages - block.range.held;
  const auto at = reinterpret_cast<std::uintptr_t>(block.address) / kPage + block.range.held;
  if (missing < kGranule || at % kGranule != 0 || !vm_->moves() || crowded()) return false;
  if (Block* part = cut_granules(missing)) {
    take_part(*part, block);
    return true;
  }
  const Run evicted = heap_.find_evicted(missing);
  if (evicted.pages < kGranule) return false;
  if (evicted.pages <= missing)
    take(evicted, block);
  else
    bring_together(evicted);
  return true;
}

// So many pages of a free block, or as many whole granules as the largest one has. Null: none.
Block* Arena::cut_granules(std::size_t pages) {
  if (Block* donor = heap_.full(pages, kGranule)) return &heap_.cut(*donor, pages, kGranule);
  const Run largest = heap_.find_free();
  if (largest.pages < 2 * kGranule) return nullptr;
  const std::size_t aligned = largest.pages - Heap::skip(*largest.first, kGranule);
  return &heap_.cut(*largest.first, std::min(pages, aligned) / kGranule * kGranule, kGranule);
}

// All pages of a free block that is in no bin.
void Arena::take_part(Block& part, Block& to) {
  try {
    take({&part, &part, part.pages}, to);
  } catch (const NoPages&) {
    if (part.range.held > 0 && part.range.bin == nullptr) heap_.put(part);
    throw;
  }
}

// More pages than the block needs are brought to one place: of a large evicted block all, and for a
// small block several, since a move costs the same for one page as for many, and those of evicted
// blocks must be closed before and opened after it. Returns the free block they are; null: there is
// no need, or no such run.
Block* Arena::gather_stock(std::size_t pages) {
  if (committed_ + pages <= cap_) return nullptr;
  if (pages >= kGranule) {
    const Run run = heap_.find_evicted(pages);
    const bool enough = run.pages >= pages && vm_->moves() && !crowded();
    return enough ? &bring_together(run) : nullptr;
  }
  if (2 * pages > kBatch) return nullptr;
  const Run run = heap_.find(pages, kBatch);
  if (run.pages < 2 * pages || !worth_moving(run, kBatch)) return nullptr;
  return &bring_together(run);
}

// A free block that holds the pages of the run.
Block& Arena::bring_together(const Run& run) {
  Block& block = empty_range(run.pages, 1);
  const auto put = [&]() -> Block& {
    block.range.life = Life::Free;
    return heap_.put(block);
  };
  try {
    take(run, block);
  } catch (const NoPages&) {
    put();
    throw;
  }
  return put();
}

// The rest of the block's pages, fresh from the system.
void Arena::commit(Block& block) {
  const std::size_t missing = block.pages - block.range.held;
  const Span rest = block.span().part(block.range.held, block.pages);
  const bool closed = block.range.rest != Rest::Open;
  const bool huge = closed && short_ && block.pages >= kLeastForHuge;
  if (closed) must(vm_->open(rest), missing);
  vm_->expect_writes(rest, huge ? Vm::Come::Huge : Vm::Come::Small);
  block.range.rest = Rest::Open;
  block.range.held = block.pages;
  committed_ += missing;
  peak_committed_ = std::max(peak_committed_, committed_);
  counters_.commits += missing;
}

// Are there so many mappings that pages had better stay where they are?
bool Arena::crowded() {
  if (vm_->most_mappings() < recount_at_) return crowded_;
  std::size_t count = vm_->count_mappings();
  if (2 * count > many_mappings_) {
    melt();
    count = vm_->count_mappings();
  }
  crowded_ = 4 * count > 3 * many_mappings_;
  recount_at_ = count + std::max<std::size_t>(1, many_mappings_ / 4);
  return crowded_;
}

// Where pages were moved away, odd mappings stay behind; closing melts them down.
void Arena::melt() {
  for (Block* block = heap_.first(); block != nullptr; block = block->range.right) {
    Range& range = block->range;
    const bool odd = range.rest == Rest::Odd || range.rest == Rest::Open;
    if (range.life == Life::Resident || range.held > 0 || !odd) continue;
    if (!vm_->close(block->span())) return;
    range.rest = Rest::Closed;
    Heap::take(*block);
    block = &heap_.put(*block);
  }
}

// Pages that do not move are given back, and others appear when they are touched: in a large block
// huge ones. What has to be closed is given back by a call of its own, of which other processors
// must be told as of a move.
bool Arena::worth_moving(const Run& run, std::size_t target) {
  if (!vm_->moves() || crowded()) return false;
  if (worth_moving_ > 0) return run.pages >= worth_moving_;
  const bool huge = short_ && target >= kLeastForHuge && vm_->has_huge_pages();
  const double calls = (has_evicted(run) ? 2 : 1) - (vm_->may_be_huge(run.span()) ? 1 : 0);
  const double cost = move_ns_ * (calls + static_cast<double>(vm_->pieces(run.span())));
  return cost <= kCold * static_cast<double>(run.pages) * (huge ? huge_touch_ns_ : touch_ns_);
}

// Moves all pages of the run behind those that the block holds. Whoever reads an evicted block
// must fault rather than read zeros, so its access goes first and its pages after.
void Arena::take(const Run& run, Block& to) {
  must(seal(run), run.pages);
  const bool sealed = has_evicted(run);
  const Span from = run.span(), target{to.address + to.range.held * kPage, run.pages};
  const auto [calls, pieces, took_ns] = vm_->move(from, target);
  const double each_ns = took_ns / static_cast<double>(1 + pieces);
  move_ns_ += kForget * (std::min(each_ns, 4 * move_ns_) - move_ns_);
  must(calls > 0 || vm_->close(from), run.pages);
  heap_.rob(run, calls > 0 ? Rest::Odd : Rest::Closed);
  committed_ -= run.pages;
  counters_.moves += calls;
  to.range.rest = Rest::Odd;
  const bool ready =
      calls == 0 ? vm_->open(target) : !sealed || vm_->protect(target, Access::ReadWrite);
  if (!ready) WEIR_CHECK(vm_->close(target), run.pages);
  must(ready, run.pages);
  to.range.held += run.pages;
  committed_ += run.pages;
}

// No access to the evicted blocks of the run. A part of the first may stay behind: nobody may read
// that part any more either.
bool Arena::seal(const Run& run) {
  bool needed = false;
  for_each(run, [&](const Block& block) {
    needed = needed || (block.range.life == Life::Evicted && !block.range.sealed);
  });
  if (!needed) return true;
  const bool part_of_free = run.first->range.life == Life::Free;
  std::byte* begin = part_of_free ? run.span().address : run.first->address;
  const auto bytes = static_cast<std::size_t>(run.span().end() - begin);
  if (!vm_->protect({begin, bytes / kPage}, Access::None)) return false;
  for_each(run, [](Block& block) { block.range.sealed = block.range.life == Life::Evicted; });
  return true;
}

// What the block holds can be written to from here on.
void Arena::unseal(Block& block) {
  if (!block.range.sealed) return;
  if (!vm_->protect(block.held(), Access::ReadWrite))
    must(drop({&block, &block, block.range.held}), block.pages);
  block.range.sealed = false;
}

bool Arena::drop(const Run& run) {
  if (!seal(run) || !vm_->close(run.span())) return false;
  heap_.rob(run, Rest::Closed);
  committed_ -= run.pages;
  counters_.discards += run.pages;
  return true;
}

// Gives so many pages back to the system, and some more, by one call. Nobody reads them any more:
// they are free, or sealed. Where huge pages could appear for a small block all is closed.
bool Arena::drop_small(std::size_t least) {
  std::vector<Span> dropped;
  std::size_t pages = 0;
  while (pages < std::max(least, kBatch)) {
    const Run run = heap_.find_small(std::max(least, kBatch) - pages);
    if (run.pages == 0 || !seal(run)) break;
    const bool closed = vm_->may_be_huge(run.span());
    if (closed && !vm_->close(run.span())) break;
    if (!closed) dropped.push_back(run.span());
    pages += run.pages;
    heap_.rob(run, closed ? Rest::Closed : has_evicted(run) ? Rest::Odd : Rest::Open);
  }
  WEIR_CHECK(vm_->discard(dropped), dropped.size());
  committed_ -= pages;
  counters_.discards += pages;
  return pages >= least;
}

// Within the cap again, as far as donors can help.
void Arena::shrink() {
  while (committed_ > cap_) {
    const std::size_t over = committed_ - cap_;
    const Run run = heap_.find(over, over);
    if (run.pages == 0 || !drop(run)) return;
  }
}

// An evicted block that is to get other pages leaves those it has to a free one.
void Arena::move_aside(Block& evicted) {
  if (evicted.range.held == 0) return;
  const Run run{&evicted, &evicted, evicted.range.held};
  if (!vm_->moves() || crowded()) return must(drop(run), evicted.pages);
  bring_together(run);
}

// The pages of `from` with their contents, at the address of `target`, which has none.
void Arena::hand_over(Block& target, const Block& from) {
  if (vm_->moves() && !crowded()) {
    const std::size_t calls = vm_->move(from.span(), target.span()).calls;
    WEIR_CHECK(calls > 0, from.pages);  // some of the contents may be lost
    counters_.moves += calls;
  } else {
    must(vm_->open(target.span()), target.pages);
    copy_contents(target, from);
  }
}

// Through a buffer, a part at a time, so that no page is there twice.
void Arena::copy_contents(const Block& target, const Block& from) {
  std::vector<std::byte> part(kCopyAtOnce * kPage);
  for (std::size_t at = 0; at < from.pages; at += kCopyAtOnce) {
    const Span piece = from.span().part(at, std::min(at + kCopyAtOnce, from.pages));
    std::memcpy(part.data(), piece.address, piece.bytes());
    WEIR_CHECK(vm_->discard({&piece, 1}), piece.pages);
    std::memcpy(target.address + at * kPage, part.data(), piece.bytes());
  }
}

}  // namespace weir::pages
