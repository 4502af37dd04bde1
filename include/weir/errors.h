#pragma once

#include <stdexcept>
#include <string>

#include "weir/types.h"

namespace weir {

// The user gave something that cannot be used. The text is one line: where, what, what to do.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The budget cannot be met: what is pinned and what is asked for do not fit together.
class OutOfBudget : public std::runtime_error {
 public:
  OutOfBudget(Bytes need, Bytes budget, Bytes held);

  Bytes need;    // bytes asked for when nothing more could be reclaimed
  Bytes budget;  // the user's line
  Bytes held;    // bytes that could not be reclaimed: pinned or stuck

  // The smallest budget with which this one request would have succeeded.
  [[nodiscard]] Bytes smallest_budget() const { return held + need; }
};

}  // namespace weir
