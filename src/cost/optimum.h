#pragma once

#include <vector>

#include "cost/reuse.h"
#include "cost/step.h"

namespace weir::cost {

// The best that a cache can do whose contents software decides on, knowing the whole step.
struct Optimum {
  double bound = 0;  // bytes from and to memory; no schedule moves fewer, and lines reach it
  double whole = 0;  // the same if every item is kept as a whole or not at all
  std::vector<double> kept;  // of each gap, the share of the item that stays, from its beginning on
  double seconds = 0;
};

// By a linear program. Shares that stay are beginnings of items, so those of the gaps of a version
// lie in each other and the solution can be carried out line by line.
[[nodiscard]] Optimum optimum_of(const Step& step, const Reuse& reuse, double capacity);

}  // namespace weir::cost
