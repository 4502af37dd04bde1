#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "plan/staged_model.h"

namespace weir::plan {

// Retention intervals, as Moccasin has them: an interval of an op begins where the op runs and ends
// where what it made goes, and every op has so many at most. Where an op reads, intervals of all
// its inputs cover it; at any moment the sizes of those that cover it fit the budget. A moment is a
// stage and an op's turn in it. The program begins with one moment of each stage, its own op's, and
// is told which others a solution breaks.
class IntervalModel : public StagedModel {
 public:
  // With the first run, so at least 1. Throws BadInput if the problem is too large.
  IntervalModel(const Problem& problem, Bytes budget, std::uint32_t intervals);

  // Adds the moments in which the solution takes too much; how many.
  std::size_t add_violated(const std::vector<double>& solution);

 private:
  void limit_intervals(std::uint32_t intervals);
  [[nodiscard]] bool takes_bytes(Stage stage, const Value& value) const;
  // The users that can run in the stage, from this op on.
  [[nodiscard]] std::vector<std::uint32_t> readers(Stage stage, const Value& value,
                                                   std::uint32_t from) const;
  // Of a value whose maker has had its turn: is what stays and what is made all there is?
  [[nodiscard]] bool unread_before(Stage stage, const Value& value, std::uint32_t op) const;
  // At least what stays, and 1 if one of the readers from this op on runs.
  [[nodiscard]] Cell covered(Stage stage, ValueId value, std::uint32_t op);

  void add_moment(Stage stage, std::uint32_t op);
  void add_amount(std::vector<Term>& row, Stage stage, ValueId value, std::uint32_t op);
  // How much of the value there is, from 0 to 1.
  [[nodiscard]] double amount_in(const std::vector<double>& solution, Stage stage, ValueId value,
                                 std::uint32_t op) const;
  [[nodiscard]] double bytes_in(const std::vector<double>& solution, Stage stage,
                                std::uint32_t op) const;

  struct Place {
    Stage stage;
    ValueId value;
    std::uint32_t reader;

    auto operator<=>(const Place&) const = default;
  };

  std::map<Place, Cell> covered_;                      // from which reader on
  std::set<std::pair<Stage, std::uint32_t>> moments_;  // that have a row
};

}  // namespace weir::plan
