#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/replay.h"

namespace weir::app {

// What a replay gave, as keys of a JSON object. A run that did not finish has no slowdown (null);
// one that ran out of budget says what it would have taken there.
[[nodiscard]] nlohmann::ordered_json json_of(const sim::ReplayResult& result, const Trace& trace);

// On one line. What is not UTF-8 in it (a file's name) is replaced.
void print_json(const nlohmann::ordered_json& value);

// "in op conv_backward" for the one a replay stopped in.
[[nodiscard]] std::string where_stopped(const sim::ReplayResult& result, const Trace& trace);

// None of the files twice.
[[nodiscard]] std::vector<Trace> read_all(std::span<const std::filesystem::path> paths);

// The file's name without its folder and without what tells the format.
[[nodiscard]] std::string label_of(const Trace& trace);

}  // namespace weir::app
