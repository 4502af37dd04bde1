// The arena beside a model that knows of every block only what was written to it last.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "pages/arena.h"
#include "pages/system.h"

namespace weir::pages {
namespace {

using namespace literals;

#ifdef WEIR_THREAD_SANITIZER
constexpr std::uint64_t kShare = 20;  // every system call costs it far more
#else
constexpr std::uint64_t kShare = 1;
#endif

// The usual number, or the same part of what was asked for.
std::uint64_t seeds(std::uint64_t usual) {
  const char* chosen = std::getenv("WEIR_TEST_SEEDS");
  const std::uint64_t asked = chosen == nullptr ? 1000 : std::strtoull(chosen, nullptr, 10);
  return std::max<std::uint64_t>(1, asked * usual / 1000 / kShare);
}

// One program's blocks. Several programs may share an arena if each has a share of its cap.
class Program {
 public:
  Program(Arena& arena, std::size_t share, std::uint64_t seed)
      : arena_{arena}, share_{share}, rng_{seed} {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    for (auto& [block, written] : resident_) arena_.free(*block);
    for (auto& [block, written] : evicted_) arena_.free(*block);
    for (Block* nowhere : left_) arena_.free(*nowhere);
  }

  void do_something(bool may_adopt) {
    switch (rng_.below(12)) {
      case 0:
      case 1:
      case 2:
        return allocate();
      case 10:
        return leave();
      case 11:
        return come_back_elsewhere();
      case 3:
        return free(rng_.chance(1, 4) ? evicted_ : resident_);
      case 4:
      case 5:
        return evict();
      case 6:
      case 7:
        return restore();
      default:
        return may_adopt ? adopt() : restore();
    }
  }

  void expect_contents() const {
    for (const auto& [block, written] : resident_) expect(*block, written);
  }

  void expect_faults() const {
    for (const Block* nowhere : left_) ASSERT_TRUE(faults_on_read(nowhere->address));
  }

  // All live blocks, by address.
  void collect(std::map<std::byte*, std::size_t>& spans) const {
    for (const Blocks* blocks : {&resident_, &evicted_})
      for (const auto& [block, written] : *blocks) spans.emplace(block->address, block->pages);
    for (const Block* nowhere : left_) spans.emplace(nowhere->address, nowhere->pages);
  }

  [[nodiscard]] std::size_t in_use() const { return in_use_; }
  void set_share(std::size_t pages) { share_ = pages; }

 private:
  using Blocks = std::vector<std::pair<Block*, std::uint64_t>>;  // what was written last

  static std::uint64_t word(std::uint64_t written, std::size_t page) {
    return base::Rng{written * 1'000'003 + page}.next();
  }

  void write(Block& block, std::uint64_t what) {
    for (std::size_t i = 0; i < block.pages; ++i) {
      const std::uint64_t value = word(what, i);
      std::memcpy(block.address + i * kPage, &value, sizeof value);
      std::memcpy(block.address + (i + 1) * kPage - sizeof value, &value, sizeof value);
    }
  }

  void expect(const Block& block, std::uint64_t what) const {
    ASSERT_EQ(arena_.find(block.address + block.pages * kPage / 2), &block);
    for (std::size_t i = 0; i < block.pages; ++i) {
      const std::uint64_t value = word(what, i);
      ASSERT_EQ(std::memcmp(block.address + i * kPage, &value, sizeof value), 0);
      ASSERT_EQ(std::memcmp(block.address + (i + 1) * kPage - sizeof value, &value, sizeof value),
                0);
    }
  }

  std::size_t random_pages() {
    switch (rng_.below(7)) {
      case 0:
        return 1;
      case 1:
        return 1 + rng_.below(20);
      case 2:
        return 8;
      case 3:
        return 64 + rng_.below(64);
      case 4:
        return 510 + rng_.below(10);
      case 5:
        return 1000 + rng_.below(1000);
      default:
        return 16;
    }
  }

  std::pair<Block*, std::uint64_t> pick(Blocks& from) {
    std::swap(from[rng_.below(from.size())], from.back());
    const auto picked = from.back();
    from.pop_back();
    return picked;
  }

  // Makes room, as the caller of an arena must; false if it cannot.
  bool room(std::size_t pages) {
    if (pages > share_) return false;
    while (in_use_ + pages > share_) rng_.chance(1, 3) ? free(resident_) : evict();
    in_use_ += pages;
    return true;
  }

  void allocate() {
    const std::size_t pages = random_pages();
    if (room(pages)) keep(arena_.allocate({static_cast<std::int64_t>(pages * kPage)}));
  }

  void keep(Block& block) {
    resident_.emplace_back(&block, rng_.next());
    write(block, resident_.back().second);
  }

  void free(Blocks& from) {
    if (from.empty()) return;
    Block& block = *pick(from).first;
    if (&from == &resident_) in_use_ -= block.pages;
    arena_.free(block);
  }

  void evict() {
    if (resident_.empty()) return;
    evicted_.push_back(pick(resident_));
    in_use_ -= evicted_.back().first->pages;
    arena_.evict(*evicted_.back().first);
  }

  // Goes, and leaves its address to others.
  void leave() {
    if (resident_.empty()) return;
    const auto [block, written] = pick(resident_);
    in_use_ -= block->pages;
    Block* nowhere = arena_.reserve({static_cast<std::int64_t>(block->pages * kPage)});
    ASSERT_NE(nowhere, nullptr);
    ASSERT_EQ(nowhere->pages, block->pages);
    arena_.free(*block);
    left_.push_back(nowhere);
  }

  void come_back_elsewhere() {
    if (left_.empty()) return;
    std::swap(left_[rng_.below(left_.size())], left_.back());
    Block& nowhere = *left_.back();
    if (!room(nowhere.pages)) return;
    left_.pop_back();
    if (rng_.chance(1, 3)) {
      ASSERT_FALSE(arena_.restore(nowhere));
      return keep(nowhere);
    }
    Block& block = arena_.allocate({static_cast<std::int64_t>(nowhere.pages * kPage)});
    arena_.free(nowhere);
    keep(block);
  }

  void restore() {
    if (evicted_.empty()) return;
    const auto [block, written] = pick(evicted_);
    if (!room(block->pages)) return evicted_.emplace_back(block, written), void();
    if (arena_.restore(*block)) expect(*block, written);
    keep(*block);
  }

  void adopt() {
    if (evicted_.empty()) return;
    const auto [block, written] = pick(evicted_);
    if (!room(block->pages)) return evicted_.emplace_back(block, written), void();
    Block& from = arena_.allocate({static_cast<std::int64_t>(block->pages * kPage)});
    keep(from);
    resident_.back().first = block;
    arena_.adopt(*block, from);
    expect(*block, resident_.back().second);
    write(*block, resident_.back().second);
  }

  Arena& arena_;
  std::size_t share_, in_use_ = 0;  // pages
  base::Rng rng_;
  Blocks resident_, evicted_;
  std::vector<Block*> left_;  // addresses of what left its own to others
};

void expect_no_overlap(const Program& program) {
  std::map<std::byte*, std::size_t> spans;
  program.collect(spans);
  std::byte* end = nullptr;
  for (const auto& [address, pages] : spans) {
    ASSERT_GE(address, end);
    end = address + pages * kPage;
  }
}

constexpr Bytes of_pages(std::size_t pages) { return {static_cast<std::int64_t>(pages * kPage)}; }

// The cap sinks as far as what is in use allows, and rises again.
void change_cap(Arena& arena, Program& program, base::Rng& rng, std::size_t most) {
  const std::size_t cap = program.in_use() + rng.below(most - program.in_use() + 1);
  arena.set_cap(of_pages(cap));
  program.set_share(cap);
  ASSERT_LE(arena.committed(), of_pages(cap));
}

void run(std::uint64_t seed, const ArenaOptions& options, bool may_adopt) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  base::Rng rng{seed};
  const std::size_t cap = 100 + rng.below(rng.chance(1, 3) ? 6000 : 1500);
  Arena arena{of_pages(cap), options};
  Program program{arena, cap, rng.next()};
  for (int i = 0; i < 80; ++i) {
    if (rng.chance(1, 20)) change_cap(arena, program, rng, cap);
    if (rng.chance(1, 40)) arena.give_back_free();
    program.do_something(may_adopt);
    if (i % 8 == 0) program.expect_contents();
    if (i % 20 == 0) program.expect_faults();
    ASSERT_EQ(arena.in_use(), of_pages(program.in_use()));
    ASSERT_LE(arena.committed(), arena.cap());
    arena.check();
    if (testing::Test::HasFatalFailure()) return;
  }
  program.expect_contents();
  expect_no_overlap(program);
  EXPECT_LE(pages_present(arena.addresses()) * kPage,
            static_cast<std::size_t>(arena.committed().n));
}

void run_seeds(std::uint64_t count, const ArenaOptions& options, bool may_adopt = true) {
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    run(seed, options, may_adopt);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ArenaTwin, KeepsWhatIsWritten) { run_seeds(seeds(500), {.address_space = 256_MiB}); }

TEST(ArenaTwin, KeepsWhatIsWrittenWhereAllMoves) {
  run_seeds(seeds(500), {.address_space = 256_MiB, .worth_moving = 1});
}

TEST(ArenaTwin, KeepsWhatIsWrittenWhereOnlyLongRunsMove) {
  run_seeds(seeds(500), {.address_space = 256_MiB, .worth_moving = 30});
}

TEST(ArenaTwin, KeepsWhatIsWrittenWhereRunsOfMappingsDoNotMove) {
  run_seeds(seeds(100),
            {.address_space = 256_MiB, .worth_moving = 1, .remap = remap_within_one_mapping});
}

TEST(ArenaTwin, KeepsWhatIsWrittenWherePagesDoNotMove) {
  run_seeds(seeds(200), {.address_space = 256_MiB, .remap = no_remap});
}

TEST(ArenaTwin, KeepsWhatIsWrittenWhereTheSystemRefusesSomeMoves) {
  run_seeds(seeds(200), {.address_space = 256_MiB, .worth_moving = 1, .remap = flaky_remap}, false);
}

TEST(ArenaTwin, KeepsWhatIsWrittenWhenMappingsAreFew) {
  run_seeds(seeds(200), {.address_space = 256_MiB, .most_mappings = 40, .worth_moving = 1});
}

TEST(ArenaTwin, TwoProgramsShareAnArena) {
  for (std::uint64_t seed = 0; seed < seeds(100); ++seed) {
    Arena arena{of_pages(1200), {.address_space = 1_GiB}};
    Program first{arena, 600, seed}, second{arena, 600, ~seed};
    const auto work = [&](Program& program) {
      for (int i = 0; i < 100; ++i) {
        program.do_something(true);
        if (i % 10 == 0) program.expect_contents();
      }
    };
    std::thread other([&] { work(second); });
    work(first);
    other.join();
    EXPECT_EQ(arena.in_use(), of_pages(first.in_use() + second.in_use()));
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace weir::pages
