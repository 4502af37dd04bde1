#pragma once

#include <functional>
#include <vector>

#include "cost/machine.h"

namespace weir::app {

// The data caches that so many threads have together, ascending, as the system tells them; empty if
// it does not.
[[nodiscard]] std::vector<Bytes> cache_capacities(unsigned threads);

// Bytes for each nanosecond that so many threads read and write together, each going over its part
// of a stretch of memory of this size again and again. By the time of the processor, so that other
// programs on the machine disturb it less.
[[nodiscard]] double swept_bandwidth(Bytes size, unsigned threads);

// Fills in caches and bandwidth. No cache is slower than what lies behind it.
void measure_memory(cost::Machine& machine, unsigned threads,
                    const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace weir::app
