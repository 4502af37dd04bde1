#pragma once

namespace CLI {
class App;
}

namespace weir::app {

// `weir trace ops`: what the ops of a trace compute and touch, by name.
void add_trace_ops(CLI::App& trace_command);

}  // namespace weir::app
