#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/sweep.h"

namespace weir::app {

// A sweep that was run, and what its outputs need to name it.
struct Swept {
  std::span<const Trace> traces;
  std::vector<std::string> labels;  // of the traces; no two alike
  const sim::SweepOptions& options;
  std::vector<sim::Cell> cells;
};

// Short if that tells the traces apart, else as the user gave them.
[[nodiscard]] std::vector<std::string> labels_of(std::span<const Trace> traces);

// For each trace, deallocation and restore order: policies by budgets, the slowdown in each cell,
// O where it is out of budget, T where it thrashes, mixK/N where only K of N trials finish.
void print_tables(const Swept& swept);
void print_holes(const Swept& swept);

[[nodiscard]] nlohmann::ordered_json json_of(const Swept& swept);

// One line for each cell. A name with a comma, a quote or a newline is quoted.
[[nodiscard]] std::string csv_of(const Swept& swept);

}  // namespace weir::app
