// The optimum can be carried out, and no cache does better.
#include "cost/optimum.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cost/naive_cache.h"
#include "cost/nets.h"

namespace weir::cost::test {
namespace {

constexpr std::int64_t kLine = 64;

// Holds of each item a number of lines from its beginning, as it is told for each gap, and moves
// what the step asks for. Counts in lines.
class NaiveSoftwareCache {
 public:
  NaiveSoftwareCache(const Step& step, const Reuse& reuse, const Optimum& best)
      : step_{step}, next_(step.accesses.size()), last_of_(step.items.size(), SIZE_MAX) {
    std::vector<std::size_t> before(step.items.size(), SIZE_MAX);
    std::size_t gap = 0, at = 0;
    for (const Access& access : step.accesses) {
      if (before[access.item] != SIZE_MAX) {
        const auto lines = static_cast<double>(lines_of(access.item));
        next_[before[access.item]] =
            static_cast<std::int64_t>(std::floor(best.kept[gap] * lines + 1e-6));
        EXPECT_EQ(reuse.gaps[gap++].item, access.item);
      }
      before[access.item] = at++;
    }
    last_of_ = before;
  }

  std::int64_t run() {
    std::vector<std::int64_t> held(step_.items.size(), 0), dirty(step_.items.size(), 0);
    for (const Sweep& sweep : step_.sweeps) {
      for (std::size_t at = sweep.first; at < sweep.first + sweep.count; ++at) {
        const Access& access = step_.accesses[at];
        const std::int64_t lines = lines_of(access.item);
        if (access.read) moved_ += lines - held[access.item];
        if (access.write) dirty[access.item] = lines;
        leave(at, held[access.item], dirty[access.item]);
      }
      std::int64_t all = 0;
      for (const std::int64_t lines : held) all += lines;
      most_ = std::max(most_, all);
    }
    return moved_;
  }
  [[nodiscard]] std::int64_t most() const { return most_; }

 private:
  [[nodiscard]] std::int64_t lines_of(std::uint32_t item) const {
    return step_.items[item].bytes.n / kLine;
  }

  // Dirty lines are the last ones of those that are dirty first to go: those beyond what is kept.
  void leave(std::size_t at, std::int64_t& held, std::int64_t& dirty) {
    const std::uint32_t item = step_.accesses[at].item;
    const bool last = last_of_[item] == at;
    held = last ? 0 : next_[at];
    const bool wanted = last ? step_.items[item].lasts : read_next(at);
    if (wanted) moved_ += std::max<std::int64_t>(0, dirty - held);
    dirty = std::min(dirty, held);
  }

  // Will this version be read again?
  [[nodiscard]] bool read_next(std::size_t at) const {
    for (std::size_t i = at + 1; i < step_.accesses.size(); ++i)
      if (step_.accesses[i].item == step_.accesses[at].item) return step_.accesses[i].read;
    return false;
  }

  const Step& step_;
  std::vector<std::int64_t> next_;  // lines to keep of the item of an access after it
  std::vector<std::size_t> last_of_;
  std::int64_t moved_ = 0, most_ = 0;
};

TEST(Optimum, CanBeCarriedOutLineByLine) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Step step = random_step(seed, kLine, 40);
    const Reuse reuse = reuse_of(step, Blocks{step});
    for (const std::int64_t lines : {5, 40, 100}) {
      const Optimum best = optimum_of(step, reuse, static_cast<double>(lines * kLine));
      NaiveSoftwareCache cache{step, reuse, best};
      const auto moved = static_cast<double>(cache.run() * kLine);
      EXPECT_LE(cache.most(), lines) << seed;
      EXPECT_GE(moved, best.bound * (1 - 1e-6) - 1) << seed << ' ' << lines;
      // Parts of lines are not kept: at most one line for each touch, to read and to write.
      EXPECT_LE(moved, best.bound + 2.0 * kLine * static_cast<double>(reuse.gaps.size())) << seed;
    }
  }
}

TEST(Optimum, IsNotBeatenByLru) {
  for (std::uint64_t seed = 100; seed < 150; ++seed) {
    const Step step = random_step(seed, kLine, 40);
    const Reuse reuse = reuse_of(step, Blocks{step});
    for (const std::int64_t lines : {10, 60, 150}) {
      const Moved lru = naive_cache(step, lines * kLine, kLine);
      const Optimum best = optimum_of(step, reuse, static_cast<double>(lines * kLine));
      EXPECT_LE(best.bound, static_cast<double>(lru.read + lru.write) * (1 + 1e-6) + 1) << seed;
      EXPECT_GE(best.whole, best.bound * (1 - 1e-6)) << seed;
    }
  }
}

TEST(Optimum, WithRoomForEverythingIsCompulsory) {
  const Step step = random_step(7, kLine, 40);
  const Reuse reuse = reuse_of(step, Blocks{step});
  const Optimum best = optimum_of(step, reuse, 1e9);
  double compulsory = 0;
  for (const FirstRead& first : reuse.first_reads)
    compulsory += static_cast<double>(step.items[first.item].bytes.n);
  for (const Version& version : reuse.versions)
    if (version.lasts) compulsory += static_cast<double>(step.items[version.item].bytes.n);
  EXPECT_NEAR(best.bound, compulsory, 1);
  EXPECT_NEAR(best.whole, compulsory, 1);
}

}  // namespace
}  // namespace weir::cost::test
