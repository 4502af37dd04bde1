#pragma once

namespace CLI {
class App;
}

namespace weir::app {

// `weir plan`: sets the exit code to 1 if there is no schedule, or if one that is checked is wrong.
void add_plan_command(CLI::App& app, int& exit_code);

}  // namespace weir::app
