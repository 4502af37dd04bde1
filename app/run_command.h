#pragma once

#include "program.h"

namespace CLI {
class App;
}

namespace weir::app {

// `weir run`: becomes the program, with the runtime inside. `program` is what stood behind `--`.
// BadInput leaves the parse of the command line.
void add_run_command(CLI::App& app, const Words& program);

// What stands behind `--`, or begins with the first word that is no option. An unknown option is
// refused.
[[nodiscard]] Words program_of(const CLI::App& command, const Words& behind_dashes);

}  // namespace weir::app
