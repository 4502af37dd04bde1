#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace weir::solver {

struct Entry {
  std::int32_t column;
  double factor;
};

// Minimise the sum of costs over columns within bounds, some of them whole numbers, such that every
// row is within its bounds.
class LinearProgram {
 public:
  std::int32_t add_column(double cost, double lower, double upper, bool whole);
  void add_row(double lower, std::span<const Entry> entries, double upper);

  [[nodiscard]] std::size_t columns() const { return costs.size(); }
  [[nodiscard]] std::size_t rows() const { return row_lower.size(); }

  std::vector<double> costs, lower, upper;
  std::vector<bool> whole;
  std::vector<std::int32_t> row_starts{0};  // into the entries; one more than there are rows
  std::vector<Entry> entries;
  std::vector<double> row_lower, row_upper;
};

struct SolveOptions {
  double seconds = 60;
  int threads = 0;                // 0: as many as the machine has
  bool relax = false;             // let whole columns be fractions
  std::vector<Entry> guess = {};  // columns and their values: where to begin
  // Told now and then: the cost of the best solution and the bound; false stops.
  std::function<bool(double best, double bound)> progress = {};
};

enum class Outcome : std::uint8_t {
  Optimal,     // proven
  Feasible,    // the best that was found in time
  Infeasible,  // proven: there is no solution
  Unknown,     // nothing was found in time
};

struct Solution {
  Outcome outcome = Outcome::Unknown;
  double cost = 0;
  double bound = 0;  // no solution costs less
  std::vector<double> values = {};
  double seconds = 0;
  bool refuted = false;  // the solver first said that there is no solution
};

[[nodiscard]] Solution solve(const LinearProgram& program, const SolveOptions& options);

}  // namespace weir::solver
