#pragma once

namespace CLI {
class App;
}

namespace weir::app {

// `weir calibrate`: measures this machine and writes a machine file. BadInput leaves the parse of
// the command line.
void add_calibrate_command(CLI::App& app);

}  // namespace weir::app
