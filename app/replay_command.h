#pragma once

namespace CLI {
class App;
}

namespace weir::app {

// `weir replay`: one trace, one budget, one policy. Sets the exit code to 1 if the run does not
// finish and people asked. BadInput leaves the parse of the command line.
void add_replay_command(CLI::App& app, int& exit_code);

}  // namespace weir::app
