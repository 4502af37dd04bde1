#pragma once

#include <optional>

#include "plan/problem.h"
#include "weir/manager.h"
#include "weir/registry.h"
#include "weir/schedule.h"
#include "weir/trace.h"

namespace weir::plan::test {

struct RecordedRun {
  std::vector<ScheduledMove> moves;
  Nanos clock;
  Bytes peak;
};

// What the manager does with a trace under a policy, move by move; nothing if it ran out of budget
// or took more than four times as long.
[[nodiscard]] std::optional<RecordedRun> record(const Trace& trace, const Problem& problem,
                                                const PolicyEntry& policy, Bytes budget,
                                                RestoreOrder restore);

}  // namespace weir::plan::test
