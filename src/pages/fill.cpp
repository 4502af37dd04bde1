// How a block comes by its pages, and how others lose theirs.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "pages/arena.h"

namespace weir::pages {

namespace {
constexpr std::size_t kBatch = 64;       // pages: one move serves small blocks up to this sum
constexpr std::size_t kWorthMoving = 8;  // pages: below, a first touch is as cheap as a move
constexpr std::size_t kCopyAtOnce = 16;  // pages

bool is_empty(const Block* block) {
  return block != nullptr && block->range.life == Life::Free && block->range.held == 0;
}
}  // namespace

// A range without pages for a block of this length; it stays among the empty ones. Of small empty
// neighbours it is the first, so that stock_up() finds the others behind it.
Block& Arena::empty_range(std::size_t pages) {
  const std::size_t capacity = range_pages(pages);
  if (donors_.empty(capacity) == nullptr) add_chunk(capacity);
  Block* block = donors_.empty(capacity);
  for (std::size_t passed = 2 * pages; passed <= kBatch; passed += pages) {
    Block* before = block->range.chunk->before(*block);
    if (!is_empty(before)) break;
    block = before;
  }
  return *block;
}

// Small ranges are opened together, so that they are one mapping and cost no call later.
void Arena::add_chunk(std::size_t stride) {
  const Span span = vm_.carve(Chunks::granules(stride));
  if (span.pages == 0) refuse("the address space of the arena is used up", stride);
  Chunk& chunk = chunks_.add(span, stride);
  const bool opened = stride < kGranule && vm_.open(span);
  for (std::size_t i = chunk.count; i-- > 0;) {  // the first range is to be used first
    Block& block = chunk.blocks[i];
    if (opened) block.range.extent = stride;
    if (opened) block.range.access = Access::ReadWrite;
    donors_.add(block);
  }
  if (opened) mappings_ += 2;
}

// A block that is being filled must not be taken for a donor.
void Arena::fill_as_resident(Block& block) {
  const Life life = block.range.life;
  block.range.life = Life::Resident;
  try {
    fill(block);
  } catch (const NoPages&) {
    block.range.life = life;
    donors_.add(block);
    throw;
  }
}

void Arena::fill(Block& block) {
  make_writable(block);
  stock_up(block);
  while (block.range.held < block.pages) {
    const std::size_t missing = block.pages - block.range.held;
    if (committed_ + missing <= cap_) return commit(block);
    const Run run = donors_.find(missing, missing);
    WEIR_CHECK(run.pages > 0, missing, committed_, in_use_, cap_);
    if (worth_moving(run, missing)) {
      const std::uint32_t pieces = run.mappings();
      take(run, block.address + block.range.held * kPage);
      grow(block, run.pages, pieces);
    } else {
      const std::size_t short_by = committed_ + missing - cap_;
      must(drop(run.ending(std::min(run.pages, short_by))), missing);
    }
  }
}

// What the block holds can be written to from here on; without pages there is nothing to do yet.
void Arena::make_writable(Block& block) {
  Range& range = block.range;
  if (range.access == Access::ReadWrite) return;
  if (range.held > 0) must(vm_.protect(block.span().part(0, range.held), Access::ReadWrite), 0);
  mappings_ -= seams(block);
  range.access = Access::ReadWrite;
  range.extent = range.held;
  mappings_ += seams(block);
}

// The small ranges behind an empty one get pages by the same move: a move costs the same for one
// block as for eight.
void Arena::stock_up(Block& first) {
  const std::size_t pages = first.pages;
  if (first.range.held > 0 || 2 * pages > kBatch || committed_ + pages <= cap_ || !may_move())
    return;
  const Chunk& chunk = *first.range.chunk;
  std::size_t ranges = 1;
  for (Block* b = chunk.after(first); is_empty(b) && (ranges + 1) * pages <= kBatch;
       b = chunk.after(*b))
    ++ranges;
  const Run run = donors_.find(pages, ranges * pages);
  ranges = run.pages / pages;
  if (ranges < 2) return;
  const bool is_one = run.mappings() == 1;
  take(run.ending(ranges * pages), first.address);
  Block* block = &first;
  for (std::size_t i = 0; i < ranges; ++i, block = chunk.after(*block)) {
    if (i > 0) Donors::remove(*block);
    make_writable(*block);
    if (!is_one) ++last_move_;
    grow(*block, pages, 1);
    if (i > 0) donors_.add(*block);
  }
}

// The rest of the block's pages, fresh from the system.
void Arena::commit(Block& block) {
  Range& range = block.range;
  const std::size_t missing = block.pages - range.held;
  const bool foreign = range.held == 0 && range.origin != 0;  // left over from a move
  const std::size_t open_from = foreign ? 0 : range.extent;
  if (open_from < block.pages) must(vm_.open(block.span().part(open_from, block.pages)), missing);
  mappings_ -= seams(block);
  if (range.held == 0) range.origin = range.pieces = 0;
  range.extent = std::max(foreign ? 0 : range.extent, block.pages);
  range.held = block.pages;
  mappings_ += seams(block);
  committed_ += missing;
  peak_committed_ = std::max(peak_committed_, committed_);
  counters_.commits += missing;
}

bool Arena::may_move() const {
  return vm_.moves() && mappings_ < static_cast<std::int64_t>(many_mappings_);
}

bool Arena::crowded() const { return 2 * mappings_ > static_cast<std::int64_t>(many_mappings_); }

bool Arena::worth_moving(const Run& run, std::size_t missing) const {
  return may_move() && run.pages >= std::min(missing, kWorthMoving);
}

// Moves all pages of the run to an address where they can be written to. Whoever reads an evicted
// block must fault rather than read zeros, so its access goes first and its pages after.
void Arena::take(const Run& run, std::byte* to) {
  must(seal(run), run.pages);
  bool writable = true;
  for (const Block* b = run.first;; b = b->range.chunk->after(*b)) {
    writable = writable && b->range.access == Access::ReadWrite;
    if (b == run.last) break;
  }
  const Span from = run.span(), target{to, run.pages};
  const std::size_t calls = vm_.move(from, target);
  // Where pages were moved to once, an odd mapping stays behind; closing melts it down.
  const bool closed = (calls == 0 || crowded()) && vm_.close(from);
  must(closed || calls > 0, run.pages);
  rob(run, closed);
  counters_.moves += calls;
  if (calls == 0) {
    must(vm_.open(target), run.pages);
  } else if (!writable) {
    must(vm_.protect(target, Access::ReadWrite), run.pages);
  }
  ++last_move_;
}

// The last move brought the block pages behind those it held.
void Arena::grow(Block& block, std::size_t pages, std::uint32_t pieces) {
  Range& range = block.range;
  mappings_ -= seams(block);
  range.pieces = pieces + (range.held == 0 ? 0 : range.pieces);
  range.origin = last_move_;
  range.held += pages;
  range.extent = std::max(range.extent, range.held);
  mappings_ += seams(block);
  committed_ += pages;
}

// No access to a run that has an evicted block.
bool Arena::seal(const Run& run) {
  bool needed = false;
  for (Block* b = run.first;; b = b->range.chunk->after(*b)) {
    needed = needed || (b->range.life == Life::Evicted && b->range.access != Access::None);
    if (b == run.last) break;
  }
  if (!needed) return true;
  const std::byte* end = run.last->address + run.last->range.extent * kPage;
  const Span all{run.first->address, static_cast<std::size_t>(end - run.first->address) / kPage};
  if (!vm_.protect(all, Access::None)) return false;
  for (Block* b = run.first;; b = b->range.chunk->after(*b)) {
    mappings_ -= seams(*b);
    b->range.access = Access::None;
    mappings_ += seams(*b);
    if (b == run.last) return true;
  }
}

// The blocks of the run no longer hold its pages; `closed`: nor can anybody touch where they were.
void Arena::rob(const Run& run, bool closed) {
  std::size_t left = run.pages;
  for (Block* b = run.last; left > 0; b = b->range.chunk->before(*b)) {
    Range& range = b->range;
    const std::size_t taken = std::min(left, range.held);
    Donors::remove(*b);
    mappings_ -= seams(*b);
    range.held -= taken;
    if (closed) range.extent = range.held;
    if (closed && range.held == 0) range.origin = range.pieces = 0;
    mappings_ += seams(*b);
    range.robbed = range.life == Life::Evicted;
    donors_.add(*b);
    left -= taken;
  }
  committed_ -= run.pages;
}

bool Arena::drop(const Run& run) {
  if (!seal(run) || !vm_.close(run.span())) return false;
  rob(run, true);
  counters_.discards += run.pages;
  return true;
}

// Within the cap again, as far as donors can help.
void Arena::shrink() {
  while (committed_ > cap_) {
    const std::size_t over = committed_ - cap_;
    const Run run = donors_.find(over, over);
    if (run.pages == 0 || !drop(run)) return;
  }
}

// An evicted block that is to get other pages leaves those it has to a free one.
void Arena::move_aside(Block& evicted) {
  if (evicted.range.held == 0) return;
  const Run run{&evicted, &evicted, evicted.range.held};
  if (!may_move()) return must(drop(run), evicted.pages);
  Block& aside = empty_range(evicted.pages);
  const std::uint32_t pieces = run.mappings();
  take(run, aside.address);
  Donors::remove(aside);
  make_writable(aside);
  grow(aside, run.pages, pieces);
  donors_.add(aside);
}

// The pages of `from` with their contents, at the address of `target`, which has none.
void Arena::hand_over(Block& target, Block& from) {
  const bool moves = may_move();
  if (moves) {
    move_contents(target, from);
  } else {
    must(vm_.open(target.span()), target.pages);
    copy_contents(target, from);
  }
  Range &to = target.range, &source = from.range;
  mappings_ -= seams(target);
  to.access = Access::ReadWrite;
  to.held = to.extent = target.pages;
  to.origin = moves ? ++last_move_ : 0;
  to.pieces = moves ? std::max(1u, source.pieces) : 0;
  mappings_ += seams(target);
  source.held = 0;
}

void Arena::move_contents(const Block& target, const Block& from) {
  const std::size_t calls = vm_.move(from.span(), target.span());
  WEIR_CHECK(calls > 0, from.pages);  // some of the contents may be lost
  counters_.moves += calls;
  if (from.range.access != Access::ReadWrite)
    WEIR_CHECK(vm_.protect(target.span(), Access::ReadWrite), from.pages);
}

// Through a buffer, a part at a time, so that no page is there twice.
void Arena::copy_contents(const Block& target, const Block& from) {
  std::vector<std::byte> part(kCopyAtOnce * kPage);
  for (std::size_t at = 0; at < from.pages; at += kCopyAtOnce) {
    const Span piece = from.span().part(at, std::min(at + kCopyAtOnce, from.pages));
    std::memcpy(part.data(), piece.address, piece.bytes());
    WEIR_CHECK(vm_.discard(piece), piece.pages);
    std::memcpy(target.address + at * kPage, part.data(), piece.bytes());
  }
}

}  // namespace weir::pages
