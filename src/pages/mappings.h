#pragma once

#include <cstddef>
#include <map>

#include "pages/span.h"

namespace weir::pages {

// The mappings that a range of addresses consists of, as the kernel counts them: neighbours are one
// if they are alike and if what is behind them appeared, or would appear, in the same row. What has
// moved brings the place along where it appeared, so it is a mapping of its own wherever it comes.
class Mappings {
 public:
  explicit Mappings(Span all);  // one, without access

  void map(Span span, Access access);  // anew
  void protect(Span span, Access access);
  void prefer_huge(Span span);
  void move(Span from, Span to);

  [[nodiscard]] std::size_t count() const { return kinds_.size(); }
  // Those that the span has a part of.
  [[nodiscard]] std::size_t within(Span span) const;

 private:
  struct Kind {
    std::ptrdiff_t moved = 0;  // bytes, from where it appeared
    Access access = Access::None;
    bool huge = false;

    bool operator==(const Kind&) const = default;
  };
  using Kinds = std::map<std::byte*, Kind>;  // by where they begin; each goes on to the next

  [[nodiscard]] Kinds::const_iterator at(std::byte* address) const;
  void split(std::byte* address);
  void join(std::byte* address);
  template <typename Change>
  void change(Span span, Change&& to);
  void put(Span span, const Kind& kind);

  Kinds kinds_;
  std::byte* end_;
};

}  // namespace weir::pages
