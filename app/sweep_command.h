#pragma once

namespace CLI {
class App;
}

namespace weir::app {

// `weir sweep`: traces by budgets by policies. BadInput leaves the parse of the command line.
void add_sweep_command(CLI::App& app);

}  // namespace weir::app
