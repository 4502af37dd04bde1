#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/problem.h"

namespace weir::plan {

enum class DeviceId : std::uint32_t {};

struct DeviceSpec {
  std::string name;
  Bytes budget;
  std::vector<Nanos> costs;  // by op, if it runs here
};

// Where a problem's ops may run, and how what they make gets from one device to another. Constants
// come to the first.
struct Devices {
  std::vector<DeviceSpec> all;
  std::vector<std::optional<Lane>> lanes;  // from each, to each; none: nothing can be copied

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(all.size()); }
  [[nodiscard]] const DeviceSpec& operator[](DeviceId id) const { return all[index(id)]; }
  [[nodiscard]] const std::optional<Lane>& lane(DeviceId from, DeviceId to) const {
    return lanes[index(from) * all.size() + index(to)];
  }
};

// A storage that changes in place, or has views that are lost alone, has several values. On several
// devices each storage has one: throws BadInput if the trace is not so.
void refuse_versions(const Problem& problem);

// Each op once, on the device that is fastest for it: nothing is below that.
[[nodiscard]] Nanos fastest_cost(const Problem& problem, const Devices& devices);

}  // namespace weir::plan
