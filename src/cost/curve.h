#pragma once

#include <array>
#include <vector>

#include "cost/reuse.h"
#include "cost/step.h"

namespace weir::cost {

// A sum of ramps: each adds nothing up to one capacity, its whole amount from another one on, and
// in between a share that grows linearly.
class Ramps {
 public:
  void add(double low, double high, double amount);
  void finish();  // before the first at()
  [[nodiscard]] double at(double capacity) const;
  // Where its slope changes, ascending.
  [[nodiscard]] std::vector<double> corners() const;

 private:
  struct Corner {
    double at;
    double value, slope;  // before finish(): what changes here; after: what holds from here on
  };
  std::vector<Corner> corners_;
};

struct Traffic {
  double read = 0, write = 0;              // bytes from and to memory
  std::array<double, kScopes> saved = {};  // against no_reuse, by the Scope of the reuse
  double beyond_block = 0;                 // of those saved in Scope::Block

  [[nodiscard]] double total() const { return read + write; }
};

// The traffic of a step under LRU for every capacity.
class MissCurve {
 public:
  MissCurve(const Step& step, const Reuse& reuse);

  [[nodiscard]] Traffic at(double capacity) const;
  [[nodiscard]] double no_reuse() const { return reads_ + writes_; }  // every touch moves its bytes
  [[nodiscard]] double compulsory() const;                            // with room for everything
  // The capacities at which the curve has corners, ascending.
  [[nodiscard]] std::vector<double> corners() const;

 private:
  void save(const Gap& gap, double low, double high, double amount, bool write);

  double reads_ = 0, writes_ = 0;  // without any reuse
  std::array<Ramps, kScopes> saved_reads_, saved_writes_;
  Ramps beyond_block_;
};

}  // namespace weir::cost
