#pragma once

namespace CLI {
class App;
}

namespace weir::app {

// `weir trace info|validate|ops|convert|generate`. BadInput leaves the parse of the command line.
void add_trace_command(CLI::App& app);

}  // namespace weir::app
