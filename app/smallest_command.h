#pragma once

namespace CLI {
class App;
}

namespace weir::app {

// `weir smallest`: how low each policy can go, with DTR's restore order and with ours, and what the
// two cost where both finish. BadInput leaves the parse of the command line.
void add_smallest_command(CLI::App& app);

}  // namespace weir::app
