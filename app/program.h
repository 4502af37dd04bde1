#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

// The program behind `--`: where it is, and whether Python runs it. Whatever is wrong with it
// throws BadInput.
namespace weir::app {

using Words = std::vector<std::string>;

// By the rules of the shell: a name with a slash is a path, any other is looked for in PATH.
[[nodiscard]] std::filesystem::path find_executable(const std::string& name);

// A Python interpreter and what it was given: its own options, then SCRIPT args, -m MODULE args or
// -c CODE args.
struct PythonCall {
  std::filesystem::path interpreter;
  Words options, program;
};

// Nothing if the words start no Python. A script counts if its first line names a Python.
[[nodiscard]] std::optional<PythonCall> python_call(const std::filesystem::path& executable,
                                                    const Words& words);

}  // namespace weir::app
