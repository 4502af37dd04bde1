#pragma once

#include "program.h"

namespace CLI {
class App;
}

namespace weir::app {

// `weir record`: becomes the program, with the runtime inside writing a trace. `program` is what
// stood behind `--`. BadInput leaves the parse of the command line.
void add_record_command(CLI::App& app, const Words& program);

}  // namespace weir::app
