#pragma once

#include <vector>

#include "plan/linear_program.h"
#include "plan/problem.h"

namespace weir::plan {

// A value's life is cut into gaps by the ops that read it for the first time. If it is away in a
// gap at all, its maker runs again in it; if it is not, it takes its bytes in all of its stages.
// Both hold for every schedule without copies, in whatever order ops run again, so what satisfies
// them at the least cost is a bound for all. There are as many columns as reads.
class GapModel {
 public:
  explicit GapModel(const Problem& problem, Bytes budget);

  struct Gap {
    ValueId value;
    Stage first, last;  // in which it may be away
    std::int32_t column = -1;
  };
  [[nodiscard]] const std::vector<Gap>& gaps() const { return gaps_; }
  // With the memory of those stages that were asked for, and no others.
  [[nodiscard]] const LinearProgram& program() const { return program_; }
  // False if what must be there does not fit in some stage.
  [[nodiscard]] bool possible() const { return possible_; }

  // Adds the memory of the stages where the solution takes too much: of those in a row the worst.
  // How many were added.
  std::size_t add_violated(const std::vector<double>& solution);
  [[nodiscard]] double amount_of(double cost) const { return cost * unit_ + offset_; }

 private:
  void add_gaps(ValueId id);
  void add_gap(ValueId id, Stage first, Stage read);
  void add_costs();
  void count_bytes();
  void add_row(Stage stage);

  const Problem& problem_;
  Bytes budget_;
  LinearProgram program_;
  std::vector<Gap> gaps_;
  std::vector<Bytes> lack_;     // by stage: what has to be away, at least
  std::vector<bool> has_row_;   // by stage
  std::vector<bool> at_start_;  // by value
  std::vector<double> costs_;   // by op, in units
  double unit_ = 1, offset_ = 0;
  bool possible_ = true;
};

}  // namespace weir::plan
