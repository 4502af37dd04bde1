#pragma once

#include <atomic>

#include "weir/types.h"

namespace weir::libtorch {

// The budget as the user said it: bytes, or a share of a peak that is only known after a step.
class Budget {
 public:
  Budget() = default;
  Budget(Bytes fixed, double fraction, Bytes peak)
      : fixed_{fixed},
        fraction_{fraction},
        known_peak_{peak},
        learning_{fixed == Bytes{} && peak == Bytes{}} {}

  // How much it is, the logical peak so far being this.
  [[nodiscard]] Bytes at(Bytes peak_so_far) const {
    if (fixed_ > Bytes{}) return fixed_;
    const Bytes peak = known_peak_ > peak_so_far ? known_peak_ : peak_so_far;
    return {static_cast<std::int64_t>(fraction_ * static_cast<double>(peak.n))};
  }
  [[nodiscard]] bool follows_peak() const { return fixed_ == Bytes{}; }
  // Until a whole step has been seen the budget gives way where an op needs more.
  [[nodiscard]] bool learning() const { return learning_; }
  void learned() { learning_ = false; }

 private:
  Bytes fixed_{};
  double fraction_ = 1;
  Bytes known_peak_{};
  bool learning_ = false;
};

}  // namespace weir::libtorch
