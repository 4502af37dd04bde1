#pragma once

#include <algorithm>
#include <vector>

#include "plan/problem.h"
#include "plan/reductions.h"
#include "plan/retention.h"
#include "plan/rows.h"

namespace weir::plan {

// What all models by stages have in common: columns that say which ops run in which stage and which
// values stay from one stage to the next, and rows that say what follows, but for the memory. That
// is for those who derive from it.
class StagedModel {
 public:
  [[nodiscard]] const LinearProgram& program() const { return rows_.program(); }
  // What a solution's cost is in nanoseconds (bytes, if the peak is the aim).
  [[nodiscard]] double amount_of(double cost) const { return cost * unit_ + offset_; }

  // Values above the threshold stay.
  [[nodiscard]] Retention retention_in(const std::vector<double>& solution,
                                       double threshold = 0.5) const;
  [[nodiscard]] std::vector<Entry> guess_of(const Retention& retention, const Runs& runs) const;

 protected:
  // Throws BadInput if the problem is too large.
  StagedModel(const Problem& problem, Bytes budget);
  ~StagedModel() = default;

  // The least cost is the aim; without, columns cost nothing.
  void count_costs();
  void add_columns();
  // Dependencies and retention: of the last stage in which all is kept, and of all after it.
  void add_rules(Stage stage);
  [[nodiscard]] Stage first_to_decide() const { return std::max(first_, roomy_); }
  // False for a stage in which all is kept.
  [[nodiscard]] bool decides(Stage stage) const { return stage > roomy_ || stage == first_; }

  [[nodiscard]] Cell stays(Stage stage, ValueId value) const;
  [[nodiscard]] Cell runs(Stage stage, std::uint32_t op) const;
  // 1 or the column that says that the value is made in this stage.
  [[nodiscard]] Cell made(Stage stage, ValueId value) const;
  // Made beside others it may have been there before: then both do not add up.
  [[nodiscard]] bool adds_up(const Value& value) const;
  // Its bytes while its maker runs. Also what is made beside others and not wanted takes its bytes
  // for a moment.
  [[nodiscard]] std::vector<Cell> at_maker(Stage stage, ValueId value) const;
  [[nodiscard]] double in_units(Bytes bytes) const { return static_cast<double>(bytes.n) / bytes_; }

  const Problem& problem_;
  Bytes budget_;
  std::vector<Stage> last_use_;
  Stage first_, roomy_;
  Rows rows_;
  std::vector<std::vector<Cell>> stays_, runs_;  // by stage, then value or op
  bool costs_ = false;
  double unit_ = 1, offset_ = 0;
  double bytes_ = 1;       // a unit of memory rows
  double most_bytes_ = 0;  // the budget in such units

 private:
  void set_bytes();
  [[nodiscard]] Cell fixed_or_new_stay(Stage stage, ValueId value);
  [[nodiscard]] Cell fixed_or_new_run(Stage stage, std::uint32_t op);
  [[nodiscard]] bool worth_running(Stage stage, std::uint32_t op) const;
  void add_dependencies(Stage stage);
  void add_retention(Stage stage);
  void add_usefulness(Stage stage, std::uint32_t op);
};

}  // namespace weir::plan
