#pragma once

#include <filesystem>

#include "weir/schedule.h"

namespace weir::app {

// A schedule as a file: one JSON object, described in docs/planner.md. What cannot be read throws
// BadInput with the file's name.
void write_schedule(const std::filesystem::path& path, const Schedule& schedule);
[[nodiscard]] Schedule read_schedule(const std::filesystem::path& path);

}  // namespace weir::app
