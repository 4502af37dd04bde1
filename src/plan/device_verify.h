#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/device_schedule.h"

namespace weir::plan {

struct DeviceVerdict {
  std::optional<std::string> violation;  // the first one, in words
  std::size_t at = 0;                    // the action that broke a rule
  Nanos cost;
  std::vector<Bytes> peaks;  // by device
};

// Carries out a schedule action by action: every op finds what it reads on its own device; ops run
// for the first time in the trace's order; what must stay is on some device; no moment has more
// bytes on a device than its budget. Stops at the first violation.
[[nodiscard]] DeviceVerdict verify(const Problem& problem, const Devices& devices,
                                   const DeviceSchedule& schedule);

}  // namespace weir::plan
