#pragma once

#include "pages/vm.h"
#include "weir/trace.h"

namespace weir::pages {

// Addresses that nothing is behind. What the calls and the pages would have taken is added up.
class PaperVm final : public Vm {
 public:
  explicit PaperVm(const PageCosts& costs);

  [[nodiscard]] bool discard(std::span<const Span> /*spans*/) override { return true; }
  [[nodiscard]] double first_touch() override { return touch_ns_; }
  [[nodiscard]] double first_huge_touch() const override { return huge_touch_ns_; }

  // By all moves and first writes so far.
  [[nodiscard]] double spent_ns() const { return spent_ns_; }

 private:
  [[nodiscard]] bool map(Span /*span*/, Access /*access*/) override { return true; }
  void writes_come(Span span, Span huge) override;
  [[nodiscard]] bool change_access(Span /*span*/, Access /*access*/) override { return true; }
  [[nodiscard]] Moved move_pages(Span from, Span to, std::size_t pieces) override;
  [[nodiscard]] std::size_t mappings() const override { return 1; }

  double touch_ns_, huge_touch_ns_, move_ns_;
  double spent_ns_ = 0;
};

}  // namespace weir::pages
