#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "shell/shell.h"

namespace weir::app::test {

using ::weir::test::content_of;
using ::weir::test::Folder;
using ::weir::test::Outcome;

// Runs `weir ARGUMENTS` by the shell, in the project's folder; "$W" in a script is the command.
[[nodiscard]] Outcome weir(const std::string& arguments);
[[nodiscard]] Outcome bash(const std::string& script);

// Of a run that must succeed.
[[nodiscard]] nlohmann::json json_from(const std::string& arguments);

inline constexpr const char* kDemo = "traces/demo.jsonl.zst";

}  // namespace weir::app::test
