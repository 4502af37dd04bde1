#pragma once

#include <optional>

#include "plan/devices.h"
#include "plan/naive.h"

namespace weir::plan::test {

// The least cost on two devices by trying everything, set by set; nothing if the budgets are too
// small. For problems without versions and of at most 7 values or so. Staged means what the model
// says: in each stage every op has a turn, in which values go, are copied, go again, and it runs.
[[nodiscard]] std::optional<Nanos> naive_optimum_on_two(const Problem& problem,
                                                        const Devices& devices, Order order);

// Two devices for it, one after another seed: costs, budgets and lanes of all kinds.
[[nodiscard]] Devices random_devices(const Problem& problem, std::uint64_t seed);

}  // namespace weir::plan::test
