#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pilot/step_log.h"
#include "weir/trace.h"

namespace weir::pilot {

// A step of training a chain of layers with a link over every third: forward, backward, and a
// change of each weight in place.
struct Step {
  std::uint32_t layers = 16;
  Bytes size = {64};                 // of an activation
  std::uint32_t extra = UINT32_MAX;  // after this layer another op runs
  bool momentum = false;             // of 8 bytes for each weight, which the optimizer reads
};

[[nodiscard]] Trace training(std::span<const Step> steps);

// The logs of a trace's steps, with room for everything.
[[nodiscard]] std::vector<StepLog> logs_of(const Trace& trace);

// The policy, and every step that it is told of is logged.
[[nodiscard]] std::unique_ptr<Policy> logged(std::unique_ptr<Policy> policy);
// The logs of the policy that was given last.
[[nodiscard]] const std::vector<StepLog>& logged_last();

}  // namespace weir::pilot
