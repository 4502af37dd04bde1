#pragma once

#include <cstdint>
#include <memory>

#include "pilot/guide.h"

namespace weir::pilot {

// Is a plan worth it? What a plan promises and what comes of it differ: copies are waited for, and
// pages have to be found. So the time that whole steps take decides.
class Trial {
 public:
  Trial() = default;
  explicit Trial(Nanos without) : best_time_{without} {}

  // A whole step followed this plan. What is to be followed from now on; null: no plan.
  std::shared_ptr<const Guide> judge(std::shared_ptr<const Guide> followed, Nanos took);
  // Has the plan that is followed been compared with what was there before?
  [[nodiscard]] bool over() const { return follows_ == 0; }

 private:
  std::shared_ptr<const Guide> best_;  // null: to do without one
  Nanos best_time_{INT64_MAX};
  Nanos time_{INT64_MAX};  // the least, of the plan that is tried
  int follows_ = 0;        // of the plan that is tried
};

}  // namespace weir::pilot
