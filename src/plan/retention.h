#pragma once

#include <optional>
#include <vector>

#include "plan/problem.h"

namespace weir::plan {

// A table of yes and no, by stage.
class StageTable {
 public:
  StageTable(Stage stages, std::size_t width) : width_{width}, cells_(stages * width) {}

  [[nodiscard]] bool at(Stage stage, std::size_t item) const { return cells_[place(stage, item)]; }
  void set(Stage stage, std::size_t item, bool yes = true) { cells_[place(stage, item)] = yes; }

 private:
  [[nodiscard]] std::size_t place(Stage stage, std::size_t item) const {
    return stage * width_ + item;
  }

  std::size_t width_;
  std::vector<bool> cells_;
};

// Which values are there when a stage begins, having been there when the one before ended. With it
// a schedule is said: each stage makes again, in the order of ops, what it lacks. What must stay is
// kept in any case, and so is what is there at the start until it is let go.
class Retention {
 public:
  explicit Retention(const Problem& problem);

  // A view goes with its storage.
  [[nodiscard]] bool keeps(Stage stage, ValueId value) const {
    const ValueId bytes = (*problem_)[value].view_of;
    return kept_.at(stage, index(value)) && (bytes == kNoValue || kept_.at(stage, index(bytes)));
  }
  // May be asked for what cannot be; it is not kept then.
  void keep(Stage stage, ValueId value);
  // At the start: what is there is let go before anything runs. What must stay is still kept.
  void drop(Stage stage, ValueId value);

 private:
  const Problem* problem_;
  StageTable kept_;
};

// Which ops run in which stage; the fewest that do.
using Runs = StageTable;
// Nothing if a stage lacks what cannot be made again.
[[nodiscard]] std::optional<Runs> runs_for(const Problem& problem, const Retention& retention);

struct Plan {
  Schedule schedule;
  Nanos cost;
  Bytes peak;
  std::uint32_t peak_op = 0;
  std::vector<Bytes> stage_peaks = {};
  Bytes tier_peak = {};  // the most that copies took
  Nanos waited = {};     // for copies, in its cost

  // Where planning begins at the first op; the same as of a replay.
  [[nodiscard]] double slowdown(const Problem& problem) const {
    return problem.base_cost.n == 0
               ? 1.0
               : static_cast<double>(cost.n) / static_cast<double>(problem.base_cost.n);
  }
};

// The moves: ops run as late as they can, storages go as soon as they can. The peak may exceed the
// budget, which is only noted in the schedule.
[[nodiscard]] Plan plan_of(const Problem& problem, const Retention& retention, const Runs& runs,
                           Bytes budget);
[[nodiscard]] std::optional<Plan> plan_of(const Problem& problem, const Retention& retention,
                                          Bytes budget);

}  // namespace weir::plan
