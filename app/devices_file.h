#pragma once

#include <filesystem>

#include "plan/devices.h"

namespace weir::app {

// The devices that a file describes (docs/planner.md), for a problem: budgets may be shares of its
// peak, and times are factors of its ops' times. What is wrong throws BadInput with the file's
// name.
[[nodiscard]] plan::Devices read_devices(const std::filesystem::path& path,
                                         const plan::Problem& problem);

}  // namespace weir::app
