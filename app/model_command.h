#pragma once

namespace CLI {
class App;
}

namespace weir::app {

// weir model: what cache capacity and bandwidth cost a training step.
void add_model_command(CLI::App& app);

}  // namespace weir::app
