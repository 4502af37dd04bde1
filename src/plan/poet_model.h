#pragma once

#include <vector>

#include "plan/copy_plan.h"
#include "plan/problem.h"
#include "plan/rows.h"

namespace weir::plan {

// POET's model as a mixed-integer program: beside which ops run and which values stay on the
// device, which go to the tier, how long they are kept there, and before which op they come back.
// Copies are waited for. Without a tier, it is Checkmate's model (formulation.h).
class PoetModel {
 public:
  // Throws BadInput if the problem is too large.
  PoetModel(const Problem& problem, Bytes budget, Bytes capacity);

  [[nodiscard]] const LinearProgram& program() const { return rows_.program(); }
  // What a solution's cost is in nanoseconds.
  [[nodiscard]] double amount_of(double cost) const { return cost * unit_ + offset_; }

  [[nodiscard]] CopyPlan plan_in(const std::vector<double>& solution) const;
  // A schedule without copies.
  [[nodiscard]] std::vector<Entry> guess_of(const Retention& retention, const Runs& runs) const;

 private:
  using Table = std::vector<std::vector<Cell>>;  // by stage, then value or op
  using Amount = std::vector<Cell>;              // a sum
  // A value comes back just before an op that reads it, or before the stage's own.
  struct Fetch {
    std::uint32_t op;
    Cell cell;
    Cell reads;  // the op runs and reads it
  };
  // How much of a value is on the device in the course of a stage: until its maker's turn; while
  // each of some ops runs; and before each, with what is there after the last.
  struct Course {
    Amount before = {};
    std::vector<std::uint32_t> ops = {};
    std::vector<Amount> at = {}, gaps = {};
  };

  void set_units();
  [[nodiscard]] bool in_play(Stage stage) const { return stage > roomy_ || stage == first_; }
  void add_columns(Stage stage);
  [[nodiscard]] Cell new_stay(Stage stage, ValueId value);
  [[nodiscard]] Cell new_copy(Stage stage, ValueId value);
  [[nodiscard]] Cell new_offload(Stage stage, ValueId value);
  [[nodiscard]] Cell new_run(Stage stage, std::uint32_t op);
  [[nodiscard]] std::vector<Fetch> new_fetches(Stage stage, ValueId value);
  [[nodiscard]] double scaled(Nanos cost) const { return static_cast<double>(cost.n) / unit_; }

  [[nodiscard]] Cell stays(Stage stage, ValueId value) const;
  [[nodiscard]] Cell copied(Stage stage, ValueId value) const;
  [[nodiscard]] Cell runs(Stage stage, std::uint32_t op) const;
  [[nodiscard]] Cell offloads(Stage s, ValueId v) const { return offloads_[s][index(v)]; }
  [[nodiscard]] const std::vector<Fetch>& fetches(Stage s, ValueId v) const {
    return fetches_[s][index(v)];
  }
  [[nodiscard]] Cell made(Stage stage, ValueId value) const;
  [[nodiscard]] bool may_be_copied(Stage stage, ValueId value) const;

  void add_dependencies(Stage stage);
  void add_held(Stage stage, ValueId value);
  void add_retention(Stage stage, ValueId value);
  void add_usefulness(Stage stage, std::uint32_t op);
  void add_copies(Stage stage, ValueId value);
  void add_changes(Stage stage, ValueId value);
  void add_views(Stage stage, ValueId view);
  void add_tier(Stage stage);

  void add_memory(Stage stage);
  void add_arrivals(Stage stage, const std::vector<Course>& courses);
  [[nodiscard]] Course course_of(Stage stage, ValueId value);
  [[nodiscard]] Course course_with_copies(Stage stage, ValueId value);
  [[nodiscard]] Cell need_at_end(Stage stage, ValueId value);
  [[nodiscard]] Amount amount_at(Stage stage, ValueId value, const Course& course,
                                 std::uint32_t op) const;

  const Problem& problem_;
  Bytes budget_, capacity_;
  std::vector<Stage> last_use_;
  Stage first_, roomy_;
  bool tier_has_room_;  // for all there is
  Rows rows_;
  Table stays_, copies_, offloads_, runs_;
  std::vector<std::vector<std::vector<Fetch>>> fetches_;  // by stage, then value
  double unit_ = 1, offset_ = 0, bytes_ = 1, most_bytes_ = 0, most_copies_ = 0;
};

}  // namespace weir::plan
