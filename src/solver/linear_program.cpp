#include "solver/linear_program.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

#include <interfaces/highs_c_api.h>

#include "base/check.h"

namespace weir::solver {

std::int32_t LinearProgram::add_column(double cost, double least, double most, bool is_whole) {
  costs.push_back(cost);
  lower.push_back(least);
  upper.push_back(most);
  whole.push_back(is_whole);
  return static_cast<std::int32_t>(columns() - 1);
}

void LinearProgram::add_row(double least, std::span<const Entry> row, double most) {
  entries.insert(entries.end(), row.begin(), row.end());
  row_starts.push_back(static_cast<std::int32_t>(entries.size()));
  row_lower.push_back(least);
  row_upper.push_back(most);
}

namespace {

// Entries in two arrays, as HiGHS takes them.
struct Split {
  explicit Split(std::span<const Entry> entries) {
    for (const Entry& entry : entries) {
      columns.push_back(entry.column);
      factors.push_back(entry.factor);
    }
  }
  [[nodiscard]] HighsInt size() const { return static_cast<HighsInt>(columns.size()); }

  std::vector<HighsInt> columns;
  std::vector<double> factors;
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// HiGHS by its C interface: PyPI's library has the C++ one with an older layout of std::string.
class Solver {
 public:
  Solver(const SolveOptions& options, bool presolve)
      : options_{options}, begin_{Clock::now()}, highs_{Highs_create()} {
    Highs_setBoolOptionValue(highs_.get(), "output_flag", 0);
    Highs_setStringOptionValue(highs_.get(), "presolve", presolve ? "choose" : "off");
    Highs_setDoubleOptionValue(highs_.get(), "time_limit", options.seconds);
    Highs_setDoubleOptionValue(highs_.get(), "mip_rel_gap", 0);
    Highs_resetGlobalScheduler(1);  // its threads keep the number that they were first given
    Highs_setIntOptionValue(highs_.get(), "threads", options.threads);
    if (options.relax) return;
    Highs_setCallback(highs_.get(), tell, this);
    Highs_startCallback(highs_.get(), kHighsCallbackMipInterrupt);
  }

  void pass(const LinearProgram& program) {
    const Split matrix{program.entries};
    std::vector<HighsInt> kinds;
    for (const bool whole : program.whole)
      kinds.push_back(whole && !options_.relax ? kHighsVarTypeInteger : kHighsVarTypeContinuous);
    check(Highs_passMip(highs_.get(), static_cast<HighsInt>(program.columns()),
                        static_cast<HighsInt>(program.rows()), matrix.size(),
                        kHighsMatrixFormatRowwise, kHighsObjSenseMinimize, 0, program.costs.data(),
                        program.lower.data(), program.upper.data(), program.row_lower.data(),
                        program.row_upper.data(), program.row_starts.data(), matrix.columns.data(),
                        matrix.factors.data(), kinds.data()));
  }

  void begin_with(const std::vector<Entry>& guess) {
    if (guess.empty() || options_.relax) return;
    const Split split{guess};
    check(Highs_setSparseSolution(highs_.get(), split.size(), split.columns.data(),
                                  split.factors.data()));
  }

  Solution run(std::size_t columns) {
    check(Highs_run(highs_.get()));
    Solution solution{.outcome = outcome()};
    solution.cost = number("objective_function_value");
    solution.bound = bound(solution);
    if (solution.outcome == Outcome::Infeasible || solution.outcome == Outcome::Unknown)
      return solution;
    solution.values.resize(columns);
    check(Highs_getSolution(highs_.get(), solution.values.data(), nullptr, nullptr, nullptr));
    return solution;
  }

 private:
  struct Destroy {
    void operator()(void* highs) const { Highs_destroy(highs); }
  };

  static void check(HighsInt status) { WEIR_CHECK(status != kHighsStatusError, status); }

  static void tell(int, const char*, const HighsCallbackDataOut* out, HighsCallbackDataIn* in,
                   void* self) {
    if (!static_cast<Solver*>(self)->tell(out->mip_primal_bound, out->mip_dual_bound))
      in->user_interrupt = 1;
  }

  bool tell(double best, double bound) {
    if (seconds_since(begin_) < options_.seconds) in_time_ = bound;
    return !options_.progress || options_.progress(best, bound);
  }

  // Once its time is up a solver may stop in the middle of a linear program, and what it then has
  // is no bound. So of a search that did not end the last one counts that it told in time.
  [[nodiscard]] double bound(const Solution& solution) const {
    if (options_.relax) return solution.cost;
    return solution.outcome == Outcome::Optimal ? number("mip_dual_bound") : in_time_;
  }

  [[nodiscard]] double number(const char* info) const {
    double value = 0;
    check(Highs_getDoubleInfoValue(highs_.get(), info, &value));
    return value;
  }

  [[nodiscard]] Outcome outcome() const {
    const HighsInt status = Highs_getModelStatus(highs_.get());
    if (status == kHighsModelStatusOptimal) return Outcome::Optimal;
    // All columns have bounds, or costs that are not negative.
    if (status == kHighsModelStatusInfeasible || status == kHighsModelStatusUnboundedOrInfeasible)
      return Outcome::Infeasible;
    HighsInt found = 0;
    check(Highs_getIntInfoValue(highs_.get(), "primal_solution_status", &found));
    return found == kHighsSolutionStatusFeasible ? Outcome::Feasible : Outcome::Unknown;
  }

  const SolveOptions& options_;
  const Clock::time_point begin_;
  double in_time_ = -std::numeric_limits<double>::infinity();
  std::unique_ptr<void, Destroy> highs_;
};

// HiGHS does not look at the rows of a program without columns.
Solution without_columns(const LinearProgram& program) {
  for (std::size_t row = 0; row < program.rows(); ++row)
    if (program.row_lower[row] > 0 || program.row_upper[row] < 0)
      return {.outcome = Outcome::Infeasible};
  return {.outcome = Outcome::Optimal};
}

Solution solve_once(const LinearProgram& program, const SolveOptions& options, bool presolve) {
  const Clock::time_point begin = Clock::now();
  Solver solver{options, presolve};
  solver.pass(program);
  solver.begin_with(options.guess);
  Solution solution = solver.run(program.columns());
  solution.seconds = seconds_since(begin);
  return solution;
}

}  // namespace

// HiGHS has called programs infeasible that are not, and presolve is where it says so at once. So
// that is believed only if it is also found without.
Solution solve(const LinearProgram& program, const SolveOptions& options) {
  if (program.columns() == 0) return without_columns(program);
  Solution solution = solve_once(program, options, true);
  if (solution.outcome != Outcome::Infeasible) return solution;
  SolveOptions rest = options;
  rest.seconds = std::max(0.0, options.seconds - solution.seconds);
  Solution again = solve_once(program, rest, false);
  again.seconds += solution.seconds;
  again.refuted = !again.values.empty();
  return again;
}

}  // namespace weir::solver
