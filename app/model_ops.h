#pragma once

#include <nlohmann/json_fwd.hpp>

#include "model.h"

namespace weir::app {

// The ops of the first point of a model that was asked for them.
void print_ops(const Model& model, const ModelOptions& options);

// One row for each op, in order; their times add up to the point's.
[[nodiscard]] nlohmann::ordered_json json_of_ops(const Model& model, const ModelOptions& options);

}  // namespace weir::app
