#pragma once

#include <vector>

#include "plan/problem.h"
#include "plan/reductions.h"
#include "plan/retention.h"
#include "plan/rows.h"

namespace weir::plan {

// Checkmate's model as a mixed-integer program: which ops run in which stage, which values stay
// from one stage to the next, such that the costs are least. What differs from the published one,
// and why it solves faster, is in docs/planner.md.
class Formulation {
 public:
  enum class Aim : std::uint8_t { LeastCost, LeastPeak };

  // For the least peak the budget is only where the peak may begin to count. Throws BadInput if the
  // problem is too large.
  Formulation(const Problem& problem, Bytes budget, Aim aim = Aim::LeastCost);

  [[nodiscard]] const LinearProgram& program() const { return rows_.program(); }
  // What a solution's cost is in nanoseconds (bytes, if the peak is the aim).
  [[nodiscard]] double amount_of(double cost) const { return cost * unit_ + offset_; }

  // Values above the threshold stay.
  [[nodiscard]] Retention retention_in(const std::vector<double>& solution,
                                       double threshold = 0.5) const;
  [[nodiscard]] std::vector<Entry> guess_of(const Retention& retention, const Runs& runs) const;

 private:
  // How much of a value's bytes is there, in the course of a stage.
  struct Course {
    Cell before = kZero;                   // until its maker's turn
    std::vector<Cell> at_maker = {};       // the sum of these
    std::vector<std::uint32_t> ends = {};  // ops after whose turn the next amount holds, ascending
    std::vector<std::vector<Cell>> then = {};  // from its maker's turn to the first end, and so on
  };

  void set_units(Aim aim);
  void add_columns(Stage stage);
  [[nodiscard]] Cell fixed_or_new_stay(Stage stage, ValueId value);
  [[nodiscard]] Cell fixed_or_new_run(Stage stage, std::uint32_t op);
  [[nodiscard]] bool worth_running(Stage stage, std::uint32_t op) const;

  [[nodiscard]] Cell stays(Stage stage, ValueId value) const;
  [[nodiscard]] Cell runs(Stage stage, std::uint32_t op) const;
  // 1 or the column that says that the value is made in this stage.
  [[nodiscard]] Cell made(Stage stage, ValueId value) const;

  void add_dependencies(Stage stage);
  void add_retention(Stage stage);
  void add_usefulness(Stage stage, std::uint32_t op);
  void add_memory(Stage stage);
  [[nodiscard]] Course course_of(Stage stage, ValueId value);
  void add_amount(std::vector<Term>& row, const Course& course, ValueId value,
                  std::uint32_t op) const;
  // `used` is the column with the bytes at the op before, and then at this one; kZero: none yet.
  void add_memory_row(const std::vector<Term>& row, std::vector<Term>& before, Cell& used);

  const Problem& problem_;
  Bytes budget_;
  std::vector<Stage> last_use_;
  Stage first_, roomy_;
  Rows rows_;
  std::vector<std::vector<Cell>> stays_, runs_;  // by stage, then value or op
  Cell peak_ = kZero;
  bool in_steps_ = false;  // memory rows say what changes from op to op, and not all that is there
  double unit_ = 1, offset_ = 0, bytes_ = 1, most_bytes_ = 0;
};

}  // namespace weir::plan
