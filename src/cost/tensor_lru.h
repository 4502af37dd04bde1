#pragma once

#include "cost/curve.h"
#include "cost/step.h"

namespace weir::cost {

// The traffic of a step for every capacity if items come and go as a whole, by LRU, in the order in
// which the ops name them: what most models do. Beside MissCurve it shows what that is worth.
class TensorLru {
 public:
  explicit TensorLru(const Step& step);

  // Bytes from and to memory.
  [[nodiscard]] double at(double capacity) const { return no_reuse_ - saved_.at(capacity); }

 private:
  double no_reuse_ = 0;
  Ramps saved_;
};

}  // namespace weir::cost
