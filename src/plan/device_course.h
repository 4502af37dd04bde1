#pragma once

#include <vector>

#include "plan/device_schedule.h"

namespace weir::plan {

// Values on devices: yes or no, or a column each.
template <typename T>
class Places {
 public:
  Places() = default;
  Places(std::size_t values, std::uint32_t devices, T none)
      : devices_{devices}, cells_(values * devices, none) {}

  [[nodiscard]] T at(ValueId value, DeviceId device) const { return cells_[place(value, device)]; }
  void set(ValueId value, DeviceId device, T what) { cells_[place(value, device)] = what; }

 private:
  [[nodiscard]] std::size_t place(ValueId value, DeviceId device) const {
    return index(value) * devices_ + index(device);
  }

  std::uint32_t devices_ = 0;
  std::vector<T> cells_;
};

// In a stage each op up to the stage's own has its turn. What is not needed goes, copies come, what
// was needed for them only goes, and the op runs, on any number of devices or on none.
template <typename T>
struct Turn {
  Places<T> copied;     // there when the copies have come
  Places<T> there;      // there while the op runs, beside what it makes
  std::vector<T> runs;  // by device
};

// A schedule on several devices, by stages.
struct DeviceCourse {
  std::vector<Places<bool>> begins;            // by stage: what is there when it begins
  std::vector<std::vector<Turn<bool>>> turns;  // by stage and op
};

// The moves; of the devices from which a copy could come, the fastest is taken.
[[nodiscard]] DevicePlan plan_of(const Problem& problem, const Devices& devices,
                                 const DeviceCourse& course);

}  // namespace weir::plan
