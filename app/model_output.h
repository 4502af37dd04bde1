#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "model.h"

namespace weir::app {

void print_table(const Model& model, const ModelOptions& options);

// With one point, its keys are those of the object; else "points" has them.
[[nodiscard]] nlohmann::ordered_json json_of(const Model& model, const ModelOptions& options);

[[nodiscard]] std::string csv_of(const Model& model);

}  // namespace weir::app
