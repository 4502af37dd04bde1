#pragma once

#include <functional>

#include <nlohmann/json_fwd.hpp>

#include "program.h"

namespace weir::app {

// What the runtime is told, in two spellings: the subcommand and options of `python -m weir`, and
// for a program without Python the JSON of the runtime's start, made only if it is needed.
struct Job {
  Words words;
  std::function<nlohmann::ordered_json()> json;
};

// Becomes the program: its exit code, signals and streams are then those of this process. Throws
// BadInput if it cannot be started.
[[noreturn]] void launch(const Words& program, const Job& job);

}  // namespace weir::app
