#include "solver/linear_program.h"

#include <chrono>
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

// HiGHS by its C interface: PyPI's library has the C++ one with an older layout of std::string.
class Solver {
 public:
  explicit Solver(const SolveOptions& options) : options_{options}, highs_{Highs_create()} {
    Highs_setBoolOptionValue(highs_.get(), "output_flag", 0);
    Highs_setDoubleOptionValue(highs_.get(), "time_limit", options.seconds);
    Highs_setDoubleOptionValue(highs_.get(), "mip_rel_gap", 0);
    Highs_resetGlobalScheduler(1);  // its threads keep the number that they were first given
    Highs_setIntOptionValue(highs_.get(), "threads", options.threads);
    if (!options.progress) return;
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
    solution.bound = options_.relax ? solution.cost : number("mip_dual_bound");
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
    const auto& progress = static_cast<const Solver*>(self)->options_.progress;
    if (!progress(out->mip_primal_bound, out->mip_dual_bound)) in->user_interrupt = 1;
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
  std::unique_ptr<void, Destroy> highs_;
};

// HiGHS does not look at the rows of a program without columns.
Solution without_columns(const LinearProgram& program) {
  for (std::size_t row = 0; row < program.rows(); ++row)
    if (program.row_lower[row] > 0 || program.row_upper[row] < 0)
      return {.outcome = Outcome::Infeasible};
  return {.outcome = Outcome::Optimal};
}

}  // namespace

Solution solve(const LinearProgram& program, const SolveOptions& options) {
  if (program.columns() == 0) return without_columns(program);
  const auto begin = std::chrono::steady_clock::now();
  Solver solver{options};
  solver.pass(program);
  solver.begin_with(options.guess);
  Solution solution = solver.run(program.columns());
  solution.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return solution;
}

}  // namespace weir::solver
