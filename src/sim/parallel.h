#pragma once

#include <cstddef>
#include <functional>

namespace weir::sim {

// Called after each piece of work, never twice at once; `done` goes up to `all`.
using Progress = std::function<void(std::size_t done, std::size_t all)>;

// Calls work(0) ... work(all - 1), each once, on `jobs` threads (0 counts as 1). The first
// exception ends the work that has not begun and is thrown here.
void run_parallel(std::size_t all, unsigned jobs, const std::function<void(std::size_t)>& work,
                  const Progress& progress = {});

}  // namespace weir::sim
