#pragma once

#include <filesystem>

#include "plan/device_schedule.h"
#include "weir/schedule.h"

namespace weir::app {

// A schedule as a file: one JSON object, described in docs/planner.md. What cannot be read throws
// BadInput with the file's name.
void write_schedule(const std::filesystem::path& path, const Schedule& schedule);
[[nodiscard]] Schedule read_schedule(const std::filesystem::path& path);

// The same for several devices, which it calls by name.
void write_schedule(const std::filesystem::path& path, const plan::DeviceSchedule& schedule,
                    const plan::Devices& devices);
[[nodiscard]] plan::DeviceSchedule read_device_schedule(const std::filesystem::path& path,
                                                        const plan::Devices& devices);

}  // namespace weir::app
