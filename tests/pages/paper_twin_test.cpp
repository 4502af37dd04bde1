// An arena on paper does what one on the system's pages does, block for block.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/rng.h"
#include "pages/arena.h"
#include "pages/paper_vm.h"

namespace weir::pages {
namespace {

constexpr std::size_t kCap = 4000, kWorthMoving = 12;  // pages
constexpr Bytes kCapBytes{kCap * kPage};

// The same block in both.
struct Pair {
  Block *real, *paper;
};

class Both {
 public:
  explicit Both(std::uint64_t seed) : rng_{seed} {
    const SystemVm probe{{std::int64_t{1} << 30}, system_remap};
    const bool huge = probe.has_huge_pages();
    paper_ = std::make_unique<Arena>(
        kCapBytes, std::make_unique<PaperVm>(PageCosts{{1000}, {huge ? 100 : 0}, {50}}), options());
    real_ = std::make_unique<Arena>(kCapBytes, options());
  }

  void do_something() {
    switch (rng_.below(8)) {
      case 0:
      case 1:
      case 2:
        return allocate();
      case 3:
        return free(rng_.chance(1, 3) ? evicted_ : resident_);
      case 4:
      case 5:
        return evict();
      default:
        return restore();
    }
  }

  void expect_the_same() const {
    const Counters real = real_->counters(), paper = paper_->counters();
    ASSERT_EQ(real.commits, paper.commits);
    ASSERT_EQ(real.discards, paper.discards);
    ASSERT_EQ(real.reuses, paper.reuses);
    ASSERT_EQ(real_->committed(), paper_->committed());
    for (const Pair& pair : resident_)
      ASSERT_EQ(pair.real->address - real_->addresses().address,
                pair.paper->address - paper_->addresses().address);
    paper_->check();
  }

 private:
  static ArenaOptions options() {
    return {.address_space = {std::int64_t{1} << 36}, .worth_moving = kWorthMoving};
  }

  std::size_t random_pages() {
    constexpr std::size_t kSizes[] = {1, 8, 40, 300, 640, 1500};
    return kSizes[rng_.below(std::size(kSizes))] + rng_.below(3);
  }

  Pair pick(std::vector<Pair>& from) {
    std::swap(from[rng_.below(from.size())], from.back());
    const Pair picked = from.back();
    from.pop_back();
    return picked;
  }

  bool room(std::size_t pages) {
    while (in_use_ + pages > kCap) rng_.chance(1, 2) ? free(resident_) : evict();
    in_use_ += pages;
    return true;
  }

  void allocate() {
    const std::size_t pages = random_pages();
    room(pages);
    const Bytes size{static_cast<std::int64_t>(pages * kPage)};
    resident_.push_back({&real_->allocate(size), &paper_->allocate(size)});
  }

  void free(std::vector<Pair>& from) {
    if (from.empty()) return;
    const Pair pair = pick(from);
    if (&from == &resident_) in_use_ -= pair.real->pages;
    real_->free(*pair.real);
    paper_->free(*pair.paper);
  }

  void evict() {
    if (resident_.empty()) return;
    const Pair pair = pick(resident_);
    in_use_ -= pair.real->pages;
    real_->evict(*pair.real);
    paper_->evict(*pair.paper);
    evicted_.push_back(pair);
  }

  void restore() {
    if (evicted_.empty()) return;
    const Pair pair = pick(evicted_);
    room(pair.real->pages);
    ASSERT_EQ(real_->restore(*pair.real), paper_->restore(*pair.paper));
    resident_.push_back(pair);
  }

  base::Rng rng_;
  std::unique_ptr<Arena> real_, paper_;
  std::vector<Pair> resident_, evicted_;
  std::size_t in_use_ = 0;
};

TEST(PaperTwin, DoesTheSame) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Both both{seed};
    for (int i = 0; i < 300; ++i) {
      both.do_something();
      both.expect_the_same();
      if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << ", step " << i;
    }
  }
}

// To close a run where huge pages may be takes a call, as a move does. So it is moved though the
// move takes longer than fresh pages do.
TEST(PaperVm, ShortRunsMoveWhereHugePagesMayBe) {
  constexpr std::int64_t kPages = 1024, kRun = 6;
  const auto pages = [](std::int64_t count) {
    return Bytes{count * static_cast<std::int64_t>(kPage)};
  };
  Arena arena{pages(kPages), std::make_unique<PaperVm>(PageCosts{{256'000}, {25'600}, {8'000}})};
  Block& first = arena.allocate(pages(1));
  arena.evict(first);  // from now on large blocks have huge pages
  arena.free(arena.allocate(pages(kPages)));
  const std::uint64_t before = arena.counters().discards;
  std::vector<Block*> blocks;
  for (std::int64_t i = 0; i < kPages / kRun; ++i) blocks.push_back(&arena.allocate(pages(kRun)));
  for (std::size_t i = 0; i < blocks.size(); i += 2) arena.free(*blocks[i]);
  arena.allocate(pages(kPages / 4));
  EXPECT_EQ(arena.counters().discards, before);
  EXPECT_GT(arena.counters().moves, 0u);
}

TEST(PaperVm, AddsUpWhatPagesWouldHaveCost) {
  auto owned = std::make_unique<PaperVm>(PageCosts{{256'000}, {25'600}, {50}});
  const PaperVm& vm = *owned;
  Arena arena{{std::int64_t{8} << 20}, std::move(owned), {.worth_moving = 1}};
  Block& small = arena.allocate({3 * kPage});
  EXPECT_EQ(vm.spent_ns(), 3 * 1000);
  arena.evict(small);  // from now on large blocks have huge pages
  arena.allocate({std::int64_t{4} << 20});
  EXPECT_EQ(vm.spent_ns(), 3 * 1000 + 1024 * 100);
  Block& rest = arena.allocate({(std::int64_t{4} << 20) - 3 * std::int64_t{kPage}});
  const double before = vm.spent_ns();
  arena.free(rest);
  arena.allocate({std::int64_t{4} << 20});    // the three pages are brought to the others
  EXPECT_EQ(vm.spent_ns(), before + 2 * 50);  // for the call, and for what it moves
}

// Two runs that were brought together from elsewhere are two mappings wherever they go.
TEST(PaperVm, MovesByTheMapping) {
  PaperVm vm{PageCosts{{256'000}, {0}, {50}}};
  const Span all = vm.all();
  ASSERT_TRUE(vm.open(all.part(0, 20)));
  ASSERT_TRUE(vm.open(all.part(100, 110)));
  EXPECT_EQ(vm.move(all.part(0, 3), all.part(100, 103)).took_ns, 2 * 50);
  EXPECT_EQ(vm.move(all.part(10, 13), all.part(103, 106)).took_ns, 2 * 50);
  EXPECT_EQ(vm.move(all.part(100, 106), all.part(200, 206)).took_ns, 3 * 50);
  EXPECT_EQ(vm.move(all.part(200, 202), all.part(300, 302)).took_ns, 2 * 50);
}

// After every table of pages other processors are told.
TEST(PaperVm, MovesByTheTableOfPages) {
  PaperVm vm{PageCosts{{256'000}, {0}, {50}}};
  const Span all = vm.all();
  ASSERT_TRUE(vm.open(all.part(0, 2 * kGranule)));
  const Span whole = all.part(0, 2 * kGranule), odd = all.part(kGranule / 2, kGranule * 3 / 2);
  EXPECT_EQ(vm.move(whole, all.part(4 * kGranule, 6 * kGranule)).took_ns, 3 * 50);
  EXPECT_EQ(vm.move(odd, all.part(8 * kGranule, 9 * kGranule)).took_ns, 3 * 50);
}

}  // namespace
}  // namespace weir::pages
