#pragma once

#include <nlohmann/json_fwd.hpp>

namespace weir::app {

// Draw on the terminal, with the charting library that scripts/setup.sh put into .venv. Without it,
// they say so in one line on standard error.

// Slowdown by budget, from the JSON of a sweep.
void plot_sweep(const nlohmann::ordered_json& sweep);

// Traffic by cache capacity, from the JSON of a model.
void plot_model(const nlohmann::ordered_json& model);

}  // namespace weir::app
