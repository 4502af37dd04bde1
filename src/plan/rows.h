#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "plan/linear_program.h"

namespace weir::plan {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// A column, or one of two constants.
using Cell = std::int32_t;
inline constexpr Cell kZero = -1, kOne = -2;

struct Term {
  double factor;
  Cell cell;
};

[[nodiscard]] inline bool is_set(const std::vector<double>& solution, Cell cell,
                                 double threshold = 0.5) {
  return cell == kOne || (cell >= 0 && solution[static_cast<std::size_t>(cell)] > threshold);
}

// A linear program whose rows may have constants in them.
class Rows {
 public:
  Cell add_column(double cost, double lower, double upper, bool whole) {
    return program_.add_column(cost, lower, upper, whole);
  }
  Cell add_choice(double cost) { return add_column(cost, 0, 1, true); }  // 0 or 1
  Cell add_amount() { return add_column(0, 0, 1, false); }               // from 0 to 1

  // The sum is at most so much.
  void add(const std::vector<Term>& terms, double most);
  // At least as much as either.
  [[nodiscard]] Cell larger(Cell a, Cell b);

  [[nodiscard]] const LinearProgram& program() const { return program_; }

 private:
  // Terms of the same column together; constants are taken from `most`.
  [[nodiscard]] static std::vector<Entry> merged(const std::vector<Term>& terms, double& most);

  LinearProgram program_;
};

}  // namespace weir::plan
