// The mappings that are counted are the kernel's.
#include "pages/mappings.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/rng.h"
#include "pages/vm.h"

namespace weir::pages {
namespace {

constexpr std::size_t kPages = 64 * kGranule;

// The same changes to the system's pages and to the count.
class Both {
 public:
  explicit Both(std::uint64_t seed) : rng_{seed} {}

  [[nodiscard]] bool moves() const { return vm_.moves(); }
  [[nodiscard]] std::size_t counted() const { return mapped_.count(); }
  std::size_t system() { return vm_.count_mappings(); }

  void do_something() {
    switch (rng_.below(5)) {
      case 0:
        return open(random_span());
      case 1:
        return close(random_span());
      case 2:
        return protect();
      case 3:
        return prefer_huge();
      default:
        return move();
    }
  }

 private:
  Span random_span() {
    const std::size_t pages = 1 + rng_.below(rng_.chance(1, 2) ? 8 : 3 * kGranule);
    const std::size_t from = rng_.below(kPages - pages + 1);
    return vm_.all().part(from, from + pages);
  }

  // Pages appear, so that a move takes them along.
  void open(Span span) {
    ASSERT_TRUE(vm_.open(span));
    mapped_.map(span, Access::ReadWrite);
    touch(span);
    last_ = span;
  }
  static void touch(Span span) {
    for (std::size_t i = 0; i < span.pages; ++i) span.address[i * kPage] = std::byte{1};
  }

  void close(Span span) {
    ASSERT_TRUE(vm_.close(span));
    mapped_.map(span, Access::None);
    last_ = {};
  }

  void protect() {
    const Span span = random_span();
    const Access access = rng_.chance(1, 2) ? Access::None : Access::ReadWrite;
    ASSERT_TRUE(vm_.protect(span, access));
    mapped_.protect(span, access);
    last_ = {};
  }

  void prefer_huge() {
    if (!vm_.has_huge_pages()) return;
    const std::size_t from = rng_.below(60) * kGranule;
    const Span span = vm_.all().part(from, from + 2 * kGranule);
    open(span);
    vm_.expect_writes(span, Vm::Come::Huge);
    mapped_.prefer_huge(span);
  }

  void move() {
    if (last_.pages == 0) return;
    const std::size_t pages = 1 + rng_.below(last_.pages);
    const Span from = last_.part(last_.pages - pages, last_.pages);
    const std::size_t at = rng_.below(kPages - pages + 1);
    const Span to = vm_.all().part(at, at + pages);
    if (to.address < last_.end() && last_.address < to.end()) return;
    ASSERT_GT(vm_.move(from, to).calls, 0u);
    mapped_.move(from, to);
    last_ = to;
  }

  base::Rng rng_;
  SystemVm vm_{{std::int64_t{kPages * kPage}}, system_remap};
  Mappings mapped_{vm_.all()};
  Span last_;  // opened, or moved there: all its pages are there
};

// The kernel may keep apart what it could join, never the other way round.
TEST(Mappings, AreCountedAsTheSystemDoes) {
  std::size_t counted = 0, there = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Both both{seed};
    if (!both.moves()) GTEST_SKIP() << "pages do not move here";
    for (int i = 0; i < 60; ++i) {
      both.do_something();
      const std::size_t system = both.system();
      ASSERT_LE(both.counted(), system + 3) << "seed " << seed << ", step " << i;
      counted += both.counted();
      there += system;
    }
  }
  EXPECT_GT(10 * counted, 9 * there);
}

}  // namespace
}  // namespace weir::pages
