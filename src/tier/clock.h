#pragma once

#include "weir/types.h"

namespace weir::tier {

// Time comes in from outside, so that tests need not wait for it.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Nanos now() const = 0;
  virtual void sleep_until(Nanos time) const = 0;
};

[[nodiscard]] const Clock& steady_clock();

}  // namespace weir::tier
