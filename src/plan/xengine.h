#pragma once

#include <optional>
#include <vector>

#include "plan/answer.h"
#include "plan/device_schedule.h"

namespace weir::plan {

// As `Answer`, on several devices.
struct DeviceAnswer {
  Outcome outcome = Outcome::Unknown;
  std::optional<DevicePlan> plan = {};
  Nanos bound = {};
  double seconds = 0;
  std::size_t columns = 0, rows = 0;
  bool refuted = false;
};

// The least sum of the times of ops and copies by XEngine's model, for whole traces. Throws
// BadInput if the problem is too large or has versions.
[[nodiscard]] DeviceAnswer solve_xengine(const Problem& problem, const Devices& devices,
                                         const MethodOptions& options);

// How much of the budgets, all in the same proportion, the smallest schedule takes that was found;
// with less than `bound` there is none.
struct SmallestShare {
  std::vector<Bytes> budgets = {};  // by device
  double share = 1, bound = 0;
};
[[nodiscard]] std::optional<SmallestShare> smallest_share(const Problem& problem,
                                                          const Devices& devices,
                                                          const MethodOptions& options);

}  // namespace weir::plan
