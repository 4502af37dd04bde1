#pragma once

#include <vector>

#include "plan/stays.h"

namespace weir::plan {

// Which gaps between reads would be away if each had a cost of its own, whatever else is away: in
// each stage what is away must have the bytes that lack. Solved nearly, with fractions, by prices
// of a byte in each stage (Barahona and Anbil 2000: the volume algorithm). Unlike a search it sees
// all stages at once, but not that what runs again needs what may be away too. So costs can be
// those around a schedule that is known, and the solution a place to search from.
class Relaxation {
 public:
  Relaxation(const Problem& problem, Bytes budget);

  // A gap costs its own op at first; from now on what it adds to these stays, or what they would
  // save if it stayed.
  void price(Stays& around);
  // What is away by a good part goes. A schedule is known that adds this much to the step's cost.
  [[nodiscard]] Stays solve(Nanos known);

 private:
  struct Gap {
    ValueId value;
    Span span;
    double cost, bytes;
    double away = 0;  // the mean of the rounds
  };

  void find_gaps(Stays& all);
  [[nodiscard]] double cost_around(Stays& stays, const Gap& gap) const;
  double weigh(double share);
  void move_prices(double step);
  [[nodiscard]] Stays rounded() const;

  const Problem& problem_;
  std::vector<Gap> gaps_;
  std::vector<double> lack_;        // by stage, if everything stays; less than 0: room
  std::vector<double> price_;       // by stage, of a byte
  std::vector<double> best_price_;  // those that prove the highest bound
  std::vector<double> direction_;   // by stage: what lacks, the mean of the rounds
  std::vector<double> before_;      // by stage: the sum of the prices before it
  std::vector<double> change_;      // by stage: of the bytes that are away
};

}  // namespace weir::plan
