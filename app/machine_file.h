#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cost/machine.h"

namespace weir::app {

// A machine as docs/cost_model.md describes the file. What is wrong with it throws BadInput.
[[nodiscard]] cost::Machine read_machine(const std::filesystem::path& path);

// What read_machine reads; dtypes are left out.
[[nodiscard]] nlohmann::ordered_json json_of(const cost::Machine& machine);

// "900GB/s" as bytes for each nanosecond, "19T" as operations for each.
[[nodiscard]] double bandwidth_in(std::string_view what, std::string_view text);
[[nodiscard]] double flops_in(std::string_view what, std::string_view text);

// "10ms".
[[nodiscard]] double nanos_in(std::string_view what, std::string_view text);

// Above 0. Between commas, "1MiB" or "1MiB:4GiB": from the first, doubling, up to the last.
[[nodiscard]] std::vector<Bytes> capacities_in(std::string_view text);
[[nodiscard]] std::vector<double> bandwidths_in(std::string_view text);

}  // namespace weir::app
