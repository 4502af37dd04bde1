#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "plan/answer.h"
#include "progress.h"

namespace weir::app {

// What `weir plan` is asked for, on one device or on several.
struct PlanArguments {
  std::filesystem::path trace, out, check, devices;
  std::string budget, tier, method = "milp";
  double seconds = 60;
  int threads = 0;
  std::uint32_t rounds = 1, intervals = 2;
  bool json = false, repeats = false;
};

// Throws BadInput.
void check_numbers(const PlanArguments& arguments);

// The bar must outlive them.
[[nodiscard]] plan::MethodOptions options_of(const PlanArguments& arguments, ProgressBar& bar);

[[nodiscard]] const char* name(plan::Outcome outcome);

[[nodiscard]] double share(std::int64_t part, std::int64_t of);

// A line of the table.
void row(const std::string& key, const std::string& value);

}  // namespace weir::app
