#pragma once

#include <vector>

#include "plan/staged_model.h"

namespace weir::plan {

// Checkmate's model as a mixed-integer program: which ops run in which stage, which values stay
// from one stage to the next, such that the costs are least. What differs from the published one,
// and why it solves faster, is in docs/planner.md.
class Formulation : public StagedModel {
 public:
  enum class Aim : std::uint8_t { LeastCost, LeastPeak };

  // For the least peak the budget is only where the peak may begin to count. Throws BadInput if the
  // problem is too large.
  Formulation(const Problem& problem, Bytes budget, Aim aim = Aim::LeastCost);

 private:
  // How much of a value's bytes is there, in the course of a stage.
  struct Course {
    Cell before = kZero;                   // until its maker's turn
    std::vector<Cell> at_maker = {};       // the sum of these
    std::vector<std::uint32_t> ends = {};  // ops after whose turn the next amount holds, ascending
    std::vector<std::vector<Cell>> then = {};  // from its maker's turn to the first end, and so on
  };

  void aim_at(Aim aim);
  void add_memory(Stage stage);
  [[nodiscard]] Course course_of(Stage stage, ValueId value);
  void add_amount(std::vector<Term>& row, const Course& course, ValueId value,
                  std::uint32_t op) const;
  // `used` is the column with the bytes at the op before, and then at this one; kZero: none yet.
  void add_memory_row(const std::vector<Term>& row, std::vector<Term>& before, Cell& used);

  Cell peak_ = kZero;
  bool in_steps_ = false;  // memory rows say what changes from op to op, and not all that is there
};

}  // namespace weir::plan
