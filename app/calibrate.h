#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cost/machine.h"
#include "weir/trace.h"

namespace weir::app {

// Kernels of which nothing was measured, by name.
[[nodiscard]] std::vector<std::string> not_measured(const cost::Machine& machine);

// Fills in what ops and products reach, from a trace of ops that were timed one by one. An op
// without products must be there in two sizes: what it takes for more bytes is its rate. After the
// mark of a step come ops that find nothing in a cache.
void add_rates(cost::Machine& machine, const Trace& timed);

// Fills in latencies and what new pages cost, from the file that the timing wrote beside the trace.
// Gives the name of PyTorch's version.
[[nodiscard]] std::string add_figures(cost::Machine& machine, const std::filesystem::path& file);

}  // namespace weir::app
