#pragma once

#include <set>
#include <tuple>

#include "plan/problem.h"
#include "plan/retention.h"

namespace weir::plan {

// A schedule with copies, by stages: what stays on the device, what runs, what goes to the tier and
// comes back. Nothing runs beside a copy.
struct CopyPlan {
  explicit CopyPlan(const Problem& problem)
      : stays{problem.end() + 2, problem.values.size()},
        copies{problem.end() + 2, problem.values.size()},
        offloads{problem.end() + 1, problem.values.size()},
        runs{problem.end() + 1, problem.ops.size()} {}

  StageTable stays;     // by value: on the device when the stage begins
  StageTable copies;    // by value: the tier has a copy then
  StageTable offloads;  // by value: is copied when it goes, from this stage on
  Runs runs;
  std::set<std::tuple<Stage, std::uint32_t, ValueId>> fetches;  // just before an op of a stage
};

// Held, and no copy will do: a view is lost with its storage.
[[nodiscard]] bool held_on_device(const Problem& problem, ValueId value, Stage stage);

// The moves: copies to the tier are made when a value goes, and waited for.
[[nodiscard]] Plan plan_of(const Problem& problem, const CopyPlan& what, Bytes budget);

}  // namespace weir::plan
