#pragma once

#include <vector>

#include "plan/devices.h"
#include "weir/schedule.h"

namespace weir::plan {

enum class DeviceMove : std::uint8_t {
  Compute,  // op: runs on the device, for the first time or again
  Copy,     // storage: comes to the device from another, where it stays
  Evict,    // storage: its bytes on the device go
};

struct DeviceAction {
  DeviceMove move;
  std::uint32_t item = 0;  // an op for Compute, a storage for the others
  DeviceId device;
  DeviceId from = {};  // of a copy

  bool operator==(const DeviceAction&) const = default;
};

// The exact sequence in which a trace's ops run on several devices, one after the other; copies are
// waited for.
struct DeviceSchedule {
  std::vector<OpSignature> ops;  // of the trace it is for
  std::vector<DeviceAction> actions;

  bool operator==(const DeviceSchedule&) const = default;
};

struct DevicePlan {
  DeviceSchedule schedule;
  Nanos cost;
  std::vector<Bytes> peaks;  // by device
};

}  // namespace weir::plan
