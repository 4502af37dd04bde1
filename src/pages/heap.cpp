#include "pages/heap.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace weir::pages {

namespace {
constexpr std::size_t kBlocksAtOnce = 256;
constexpr int kGapsLookedAt = 16;

bool donates(const Block* block) {
  return block != nullptr && block->range.life != Life::Resident && block->range.held > 0;
}

bool full(const Block& block) { return block.range.held == block.pages; }

bool is_free(const Block* block) { return block != nullptr && block->range.life == Life::Free; }

// Pages in place within the span, which begins in this block or behind it.
std::size_t held_within(const Block* block, Span span) {
  std::size_t held = 0;
  for (; block != nullptr && block->address < span.end(); block = block->range.right) {
    const std::byte* from = std::max(block->address, span.address);
    const std::byte* to = std::min(block->held().end(), span.end());
    if (from < to) held += static_cast<std::size_t>(to - from) / kPage;
  }
  return held;
}

// Of the free blocks around the seed: what has most pages in place begins or ends with a block.
Gap gap_around(Block& seed, std::size_t pages) {
  const auto bytes = static_cast<std::ptrdiff_t>(pages * kPage);
  Block *first = &seed, *last = &seed;
  while (is_free(first->range.left) && seed.address - first->address < bytes)
    first = first->range.left;
  while (is_free(last->range.right) && last->span().end() - seed.span().end() < bytes)
    last = last->range.right;
  if (last->span().end() - first->address < bytes) return {};
  Gap best;
  for (Block* block = first; block != last->range.right; block = block->range.right) {
    for (std::byte* begin : {block->address, block->span().end() - bytes}) {
      const Span span{std::clamp(begin, first->address, last->span().end() - bytes), pages};
      const std::size_t held = held_within(first, span);
      if (held > best.held) best = {first, span, held};
    }
  }
  while (best.first != nullptr && best.first->span().end() <= best.span.address)
    best.first = best.first->range.right;
  return best;
}

Block* aligned(const Bins& bins, std::size_t pages, std::size_t alignment) {
  Block* block = bins.at_least(pages);
  if (block == nullptr || Heap::skip(*block, alignment) + pages <= block->pages) return block;
  return bins.at_least(pages + alignment - 1);
}

}  // namespace

Heap::Heap(Span all) : first_{&new_block()} {
  first_->address = all.address;
  first_->pages = all.pages;
  Block& apart = split(*first_, all.pages / 2);
  apart.range.rest = Rest::Apart;
  bin(*first_);
  bin(apart);
}

std::size_t Heap::skip(const Block& block, std::size_t alignment) {
  const std::size_t page = reinterpret_cast<std::uintptr_t>(block.address) / kPage;
  return (alignment - page % alignment) % alignment;
}

bool Heap::joinable(const Block& left, const Block* right) {
  const auto in_bin = [](const Block* block) { return block->range.bin != nullptr; };
  return is_free(&left) && is_free(right) && in_bin(&left) && in_bin(right) &&
         pages::full(left) == pages::full(*right) &&
         (pages::full(left) || left.range.rest == right->range.rest);
}

Block& Heap::new_block() {
  if (unused_ == nullptr) {
    Block* blocks = owned_.emplace_back(std::make_unique<Block[]>(kBlocksAtOnce)).get();
    for (std::size_t i = 0; i < kBlocksAtOnce; ++i)
      blocks[i].range.right = std::exchange(unused_, &blocks[i]);
  }
  Block& block = *unused_;
  unused_ = std::exchange(block.range.right, nullptr);
  return block;
}

Block* Heap::full(std::size_t pages, std::size_t alignment) const {
  return aligned(full_, pages, alignment);
}

// What is open already costs no call, and what is odd is of no other use.
Block* Heap::empty(std::size_t pages, std::size_t alignment) const {
  for (const Bins* bins : {&open_, &odd_, &closed_, &apart_})
    if (Block* block = aligned(*bins, pages, alignment)) return block;
  return nullptr;
}

Gap Heap::gap(std::size_t pages) const {
  Gap best;
  full_.visit_largest(kGapsLookedAt, [&](Block& seed) {
    const Gap gap = gap_around(seed, pages);
    if (gap.held > best.held) best = gap;
  });
  return best;
}

Block& Heap::claim(const Gap& gap) {
  const auto skip = static_cast<std::size_t>(gap.span.address - gap.first->address) / kPage;
  Block* first = gap.first;
  Bins::remove(*first);
  if (skip > 0) {
    first = &split(*first, skip);
    bin(*gap.first);
  }
  for (Block* block = first;; block = block->range.right) {
    Bins::remove(*block);
    const auto left = static_cast<std::size_t>(gap.span.end() - block->address) / kPage;
    if (block->pages > left) bin(split(*block, left));
    block->range.life = Life::Resident;
    if (block->span().end() == gap.span.end()) return *first;
  }
}

Block& Heap::fuse(Block& first, const Gap& gap) {
  while (first.span().end() < gap.span.end()) absorb_right(first);
  return first;
}

void Heap::unclaim(Block& first, const Gap& gap) {
  for (Block* block = &first; block != nullptr && block->address < gap.span.end();
       block = block->range.right) {
    block->range.life = Life::Free;
    block = &put(*block);
  }
}

Bins& Heap::empty_bins(Rest rest) {
  switch (rest) {
    case Rest::Open:
      return open_;
    case Rest::Odd:
      return odd_;
    case Rest::Closed:
      return closed_;
    case Rest::Apart:
      return apart_;
  }
  WEIR_CHECK(false, static_cast<int>(rest));
}

Block* Heap::closed(std::size_t pages) const {
  Block* block = apart_.at_least(pages);
  return block != nullptr ? block : closed_.at_least(pages);
}

void Heap::set_none_apart() {
  for (Block* block = first_; block != nullptr; block = block->range.right) {
    if (block->range.rest != Rest::Apart) continue;
    block->range.rest = Rest::Closed;
    if (block->range.bin == nullptr) continue;
    Bins::remove(*block);
    block = &put(*block);
  }
}

Block& Heap::cut(Block& block, std::size_t pages, std::size_t alignment) {
  Bins::remove(block);
  Block* part = &block;
  if (const std::size_t before = skip(block, alignment); before > 0) {
    part = &split(block, before);
    bin(block);
  }
  if (part->pages > pages) bin(split(*part, pages));
  return *part;
}

// The block keeps `pages` pages; the rest is a new one, of the same kind, in no bin.
Block& Heap::split(Block& block, std::size_t pages) {
  Block& rest = new_block();
  Range &range = block.range, &right = rest.range;
  rest.address = block.address + pages * kPage;
  rest.pages = block.pages - pages;
  right.held = range.held - std::min(range.held, pages);
  right.rest = range.rest;
  right.left = &block;
  right.right = range.right;
  if (right.right != nullptr) right.right->range.left = &rest;
  range.right = &rest;
  range.held = std::min(range.held, pages);
  block.pages = pages;
  return rest;
}

void Heap::bin(Block& block) {
  const Range& range = block.range;
  if (range.life == Life::Evicted) {
    if (range.held > 0) evicted_.add(block, range.held);
  } else {
    (range.held > 0 ? full_ : empty_bins(range.rest)).add(block, block.pages);
  }
}

Block& Heap::put(Block& block) {
  Range& range = block.range;
  if (range.life == Life::Evicted) {
    bin(block);
    return block;
  }
  if (range.held > 0 && range.held < block.pages) put(split(block, range.held));
  return join(block);
}

// With its neighbours of the same kind.
Block& Heap::join(Block& block) {
  bin(block);
  Block* joined = &block;
  if (Block* left = block.range.left; left != nullptr && joinable(*left, &block)) {
    joined = left;
    absorb_right(*left);
  }
  if (joinable(*joined, joined->range.right)) absorb_right(*joined);
  Bins::remove(*joined);
  bin(*joined);
  return *joined;
}

void Heap::absorb_right(Block& block) {
  Block& gone = *block.range.right;
  Bins::remove(gone);
  block.pages += gone.pages;
  block.range.held += gone.range.held;
  block.range.right = gone.range.right;
  if (gone.range.right != nullptr) gone.range.right->range.left = &block;
  gone.range.held = 0;
  gone.range.life = Life::Free;
  gone.range.left = nullptr;
  gone.range.right = std::exchange(unused_, &gone);
}

// The seed and its neighbours on both sides, until there are enough pages. A free seed has no
// neighbours taken along: those that are free are part of it.
Run Heap::run_around(Block& seed, std::size_t most) {
  Run run{&seed, &seed, seed.range.held};
  if (seed.range.life == Life::Evicted) {
    while (run.pages < most && pages::full(*run.last) && donates(run.last->range.right)) {
      run.last = run.last->range.right;
      run.pages += run.last->range.held;
    }
    for (Block* left = run.first->range.left;
         run.pages < most && donates(left) && pages::full(*left); left = left->range.left) {
      run.first = left;
      run.pages += left->range.held;
    }
  }
  while (run.first != run.last && run.pages - run.first->range.held >= most) {
    run.pages -= run.first->range.held;
    run.first = run.first->range.right;
  }
  run.pages = std::min(run.pages, most);
  return run;
}

Run Heap::find(std::size_t least, std::size_t most) {
  for (const Bins* bins : {&full_, &evicted_})
    if (Block* block = bins->at_least(least)) return run_around(*block, most);
  for (const Bins* bins : {&full_, &evicted_})
    if (Block* block = bins->largest()) return run_around(*block, most);
  return {};
}

Run Heap::find_free() {
  Block* block = full_.largest();
  return block == nullptr ? Run{} : Run{block, block, block->range.held};
}

Run Heap::find_evicted(std::size_t least) {
  Block* block = evicted_.at_least(least);
  if (block == nullptr) block = evicted_.largest();
  return block == nullptr ? Run{} : Run{block, block, block->range.held};
}

Run Heap::find_small(std::size_t most) {
  if (Block* block = full_.smallest()) return run_around(*block, most);
  Block* block = evicted_.smallest();
  return block == nullptr ? Run{} : run_around(*block, most);
}

void Heap::rob(const Run& run, Rest rest) {
  const std::byte* end = run.last->span().end();
  Block* first = run.last;
  for (std::size_t left = run.pages; left > 0;) {
    Range& range = first->range;
    Bins::remove(*first);
    if (range.life == Life::Free && range.held > left) {
      Block& kept = *first;
      first = &split(kept, range.held - left);
      bin(kept);
      left = first->range.held;
      continue;
    }
    const std::size_t taken = std::min(left, range.held);
    range.held -= taken;
    const bool alike = range.held == 0 && (taken == first->pages || range.rest == rest);
    range.rest = alike ? rest : Rest::Odd;
    range.robbed = range.life == Life::Evicted;
    range.sealed = range.sealed && range.held > 0;
    left -= taken;
    if (left > 0) first = range.left;
  }
  for (Block* block = first; block != nullptr && block->address < end; block = block->range.right)
    block = &put(*block);
}

}  // namespace weir::pages
