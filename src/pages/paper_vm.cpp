#include "pages/paper_vm.h"

#include <algorithm>

namespace weir::pages {

namespace {
constexpr std::uintptr_t kBegin = std::uintptr_t{1} << 45;
constexpr std::size_t kPages = (std::size_t{1} << 40) / kPage;
constexpr double kPagesOfMib = 256;
}  // namespace

PaperVm::PaperVm(const PageCosts& costs)
    : touch_ns_{static_cast<double>(costs.touch.n) / kPagesOfMib},
      huge_touch_ns_{static_cast<double>(costs.huge_touch.n) / kPagesOfMib},
      move_ns_{static_cast<double>(costs.move.n)} {
  moves_ = true;
  has({reinterpret_cast<std::byte*>(kBegin), kPages}, costs.huge_touch > Nanos{});
}

void PaperVm::writes_come(Span span, Span huge) {
  spent_ns_ += static_cast<double>(huge.pages) * huge_touch_ns_ +
               static_cast<double>(span.pages - huge.pages) * touch_ns_;
}

// Table by table of pages: after each, other processors forget what it said.
Moved PaperVm::move_pages(Span from, Span to) {
  const auto granule = [](const std::byte* address) {
    return reinterpret_cast<std::uintptr_t>(address) / (kGranule * kPage);
  };
  const auto tables = [&](Span span) {
    return granule(span.end() - 1) - granule(span.address) + 1;
  };
  const double took = move_ns_ * static_cast<double>(std::max(tables(from), tables(to)));
  spent_ns_ += took;
  return {1, took};
}

}  // namespace weir::pages
