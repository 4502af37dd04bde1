#pragma once

#include <string>

#include "libtorch/runtime.h"

namespace weir::libtorch {

// What was measured, as JSON for machines and as a table for people.
std::string json_of(const Stats& stats);
std::string table_of(const std::string& title, const Stats& stats);

}  // namespace weir::libtorch
