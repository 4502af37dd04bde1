#include "pages/donors.h"

#include <algorithm>

namespace weir::pages {

namespace {

bool donates(const Block* block) {
  return block != nullptr && block->range.life != Life::Resident && block->range.held > 0;
}

bool full(const Block& block) { return block.range.held == block.range.capacity; }

// The seed and its neighbours on both sides, until there are enough pages. A free seed has no
// evicted neighbours taken along.
Run run_around(Block& seed, std::size_t most) {
  const auto joins = [&](const Block* block) {
    return donates(block) && (block->range.life == Life::Free || seed.range.life == Life::Evicted);
  };
  const Chunk& chunk = *seed.range.chunk;
  Run run{&seed, &seed, seed.range.held};
  while (run.pages < most && full(*run.last) && joins(chunk.after(*run.last))) {
    run.last = chunk.after(*run.last);
    run.pages += run.last->range.held;
  }
  while (run.pages < most && joins(chunk.before(*run.first)) && full(*chunk.before(*run.first))) {
    run.first = chunk.before(*run.first);
    run.pages += run.first->range.held;
  }
  return run.ending(std::min(run.pages, most));
}

Block* larger(Block* a, Block* b) {
  if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
  return a->range.held >= b->range.held ? a : b;
}

}  // namespace

std::uint32_t Run::mappings() const {
  std::uint32_t count = std::max(1u, last->range.pieces);
  for (const Block* b = last; b != first;) {
    const Block* before = b->range.chunk->before(*b);
    const Range &left = before->range, &right = b->range;
    count += left.origin != right.origin || left.access != right.access ? 1 : 0;
    count += left.pieces > 1 ? left.pieces - 1 : 0;
    b = before;
  }
  return count;
}

Run Run::ending(std::size_t count) const {
  Run run{first, last, count};
  std::size_t before = 0;  // pages of the blocks up to and with the first
  for (Block* b = last; b != first; b = b->range.chunk->before(*b)) before += b->range.held;
  while (before >= count && run.first != last) {
    run.first = run.first->range.chunk->after(*run.first);
    before -= run.first->range.held;
  }
  return run;
}

void Donors::add(Block& block) {
  const Range& range = block.range;
  if (range.life == Life::Evicted) {
    if (range.held > 0) evicted_.add(block, range.held);
  } else if (range.held == 0) {
    empty_.add(block, range.capacity);
  } else if (range.capacity == range_pages(range.held)) {
    whole_.add(block, range.held);
  } else {
    rests_.add(block, range.held);
  }
}

Run Donors::find(std::size_t least, std::size_t most) {
  for (Shelves* shelves : {&rests_, &whole_, &evicted_}) {
    if (Block* block = shelves->at_least(least)) return run_around(*block, most);
  }
  if (Block* block = larger(rests_.largest(), whole_.largest())) return run_around(*block, most);
  Block* block = evicted_.largest();
  return block == nullptr ? Run{} : run_around(*block, most);
}

Run Donors::find_free() {
  Block* block = larger(rests_.largest(), whole_.largest());
  return block == nullptr ? Run{} : run_around(*block, SIZE_MAX);
}

}  // namespace weir::pages
