#include "plan/devices.h"

#include <algorithm>

#include <fmt/format.h>

#include "weir/errors.h"

namespace weir::plan {

void refuse_versions(const Problem& problem) {
  for (const Value& value : problem.values) {
    if (value.change_of == kNoValue && value.view_of == kNoValue) continue;
    throw BadInput(fmt::format(
        "{}: {} {}; on several devices each storage is made once: use another method, or a graph",
        problem.source, place_of(problem, value.maker),
        value.change_of != kNoValue ? "changes a storage in place" : "makes a view"));
  }
}

Nanos fastest_cost(const Problem& problem, const Devices& devices) {
  Nanos sum;
  for (std::uint32_t op = 0; op < problem.end(); ++op) {
    const auto cost = [&](const DeviceSpec& device) { return device.costs[op]; };
    sum += cost(*std::ranges::min_element(devices.all, {}, cost));
  }
  return sum;
}

}  // namespace weir::plan
