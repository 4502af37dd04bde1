#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "plan/stays.h"

namespace weir::plan {

// What counts in a score, beside cost and bytes freed where they lack.
struct Taste {
  double time = 1;   // for how long: 1, that all stages count; 0, that the worst one does
  double crowd = 1;  // how bad it is to make a stage too large by making things again there
  double own = 0;    // cost: 1, of the op alone; 0, of all that would have to run now
  double noise = 0;  // a score is up to so much higher, by chance
};

// Changes stays, step by step, until they keep a budget, and then while that saves time.
class Search {
 public:
  static constexpr Nanos kAnyCost{std::numeric_limits<std::int64_t>::max()};

  Search(Stays stays, Bytes budget, std::int64_t work);

  // Drops until the budget is kept, for less than this cost; false if that cannot be.
  bool fit(const Taste& taste, Nanos limit = kAnyCost);
  // What is made again stays instead, and other things go for it, while that saves time.
  void improve(const Taste& taste);
  // The same at once for most of what a few stages make again, chosen by chance. What costs as much
  // is taken too; true if less.
  bool shake(const Taste& taste);

  [[nodiscard]] std::int64_t work_left() const { return allowed_ - work_ - stays_.work(); }
  void allow(std::int64_t work) { allowed_ = work_ + stays_.work() + work; }
  [[nodiscard]] Stays& stays() { return stays_; }

 private:
  struct Gap {
    ValueId value;
    Span span;
  };
  struct Scored {
    double score;
    ValueId value;
    std::uint64_t exact_at = 0;  // by the clock of stays; 0: a bound
  };
  struct Remake {
    ValueId value;
    Stage stage;
    Nanos cost;
  };
  struct Remembered {
    Span gap{1, 0};
    std::uint64_t at = 0;
    Nanos most;  // exact up to this cost
    Stays::Added added;
  };

  Stage find_lack();
  [[nodiscard]] bool is_too_dear() const { return !stays_.sound() || stays_.cost() >= limit_; }
  [[nodiscard]] Nanos most_added() const;
  [[nodiscard]] bool is_over(Stage stage) const { return stays_.peak(stage) > budget_; }
  bool drop_in(Stage worst);
  void list(Stage worst);
  [[nodiscard]] std::optional<Gap> droppable(Stage stage, ValueId value) const;
  [[nodiscard]] bool is_pinned(ValueId value, Span gap) const;
  bool unpin();
  bool postpone(Stage stage);
  bool keep_for(Stage stage);
  [[nodiscard]] double worth_of(Stage stage, ValueId value, double all, const auto& change);
  [[nodiscard]] double all_lack();
  [[nodiscard]] bool is_possible(const Gap& gap);
  [[nodiscard]] double bound_of(const Gap& gap, Stage worst);
  [[nodiscard]] double score_of(const Gap& gap, Stage worst);
  [[nodiscard]] double score(const Gap& gap, Stage worst, double freed);
  [[nodiscard]] double freed_before_end(const Gap& gap) const;
  [[nodiscard]] double cost_of(const Gap& gap);
  [[nodiscard]] double lack(Bytes peak) const;
  [[nodiscard]] double added_lack(ValueId value, Stage last, double most);
  [[nodiscard]] Span missing_before(Stage stage, ValueId value) const;
  [[nodiscard]] bool may_keep(ValueId value, Span span) const;
  const Stays::Added& added_by(const Gap& gap);
  [[nodiscard]] double saved_after(const Stays::Added& added, Stage stage);
  [[nodiscard]] bool outputs_fit(std::uint32_t op, Span span);
  [[nodiscard]] bool fits(Bytes size, Span span);
  void apply(const Gap& choice);
  void keep_after(Stage stage, ValueId value, Stage last);
  [[nodiscard]] std::vector<Remake> remakes() const;
  bool better_without(const Remake& remake);
  bool keep_until(const Remake& remake);
  [[nodiscard]] std::vector<Stage> chosen_stages();

  Stays stays_;
  const Problem& problem_;
  Bytes budget_;
  Taste taste_;
  Nanos limit_;           // what the stays may cost
  bool refused_ = false;  // something could go, but for the limit
  std::int64_t allowed_, work_ = 0;
  std::vector<ValueId> candidates_;
  std::vector<Scored> listed_;      // of one stage, a heap
  std::vector<Remembered> memory_;  // by value
  std::vector<double> over_;        // by stage, of all before
  std::vector<double> stages_over_;
  int unpins_left_ = 0;
  std::vector<Gap> pinned_;   // do not go
  std::vector<bool> spared_;  // nor do these; by value
  base::Rng rng_{1};
};

}  // namespace weir::plan
