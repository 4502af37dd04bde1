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

Moved PaperVm::move_pages(Span /*from*/, Span /*to*/, std::size_t pieces) {
  const double took = move_ns_ * static_cast<double>(1 + pieces);
  spent_ns_ += took;
  return {1, pieces, took};
}

}  // namespace weir::pages
