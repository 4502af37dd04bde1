#pragma once

#include <nlohmann/json_fwd.hpp>

namespace weir::app {

// Draws slowdown by budget on the terminal, from the JSON of a sweep, with the charting library
// that scripts/setup.sh put into .venv. Without it, says so in one line on standard error.
void plot_sweep(const nlohmann::ordered_json& sweep);

}  // namespace weir::app
