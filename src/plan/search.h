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
  double time = 1;    // for how long: 1, that all stages count; 0, that the worst one does
  double crowd = 1;   // how bad it is to make a stage too large by making things again there
  double own = 0;     // cost: 1, of the op alone; 0, of all that would have to run now
  double link = 0.1;  // cost: of the time that a copy takes, beside what waits for it
  double noise = 0;   // a score is up to so much higher, by chance
};

// May what goes also go to the problem's tier?
enum class Going : std::uint8_t { MadeAgain, OrCopied };

// Changes stays, step by step, until they keep a budget, and then while that saves time.
class Search {
 public:
  static constexpr Nanos kAnyCost{std::numeric_limits<std::int64_t>::max()};
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  Search(Stays stays, Bytes budget, std::int64_t work, Going going = Going::MadeAgain);

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
  struct CopyGap {
    ValueId value;
    Span away;
    Stage offload;
    bool waits;                 // something may have to wait for it
    ValueId at_end = kNoValue;  // it goes too, where its storage has to end as it begins
    Span away_at_end = {};
    Stage offload_at_end = kNobody;
  };
  struct Scored {
    double score;
    ValueId value;
    bool copied = false;
    std::uint64_t exact_at = 0;  // by the clock of stays; 0: a bound
  };
  struct Remake {
    ValueId value;
    Stage stage;
    Nanos cost;
    bool copied = false;  // it comes back from the tier when the stage has ended
  };
  struct Spared {
    bool made_again = false, copied = false;
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
  // Exactly; kNever if it cannot go.
  [[nodiscard]] double score_now(const Scored& listed, Stage worst);
  void apply(const Scored& listed, Stage worst);
  void list(Stage worst);
  [[nodiscard]] std::optional<Gap> droppable(Stage stage, ValueId value) const;
  [[nodiscard]] std::optional<CopyGap> copyable(Stage stage, ValueId value) const;
  [[nodiscard]] std::optional<CopyGap> copy_in(const Stays::CopyGap& gap, Stage stage,
                                               ValueId value) const;
  [[nodiscard]] std::optional<CopyGap> copy_at_ends(Stage stage, ValueId value) const;
  [[nodiscard]] double freed_by(const CopyGap& gap) const;
  [[nodiscard]] double bound_of(const CopyGap& gap, Stage worst);
  [[nodiscard]] double score_of(const CopyGap& gap, Stage worst);
  [[nodiscard]] double copy_score(const CopyGap& gap, Stage worst, Nanos waited);
  void apply(const CopyGap& gap);
  [[nodiscard]] bool is_pinned(ValueId value, Span gap) const;
  bool unpin();
  bool postpone(Stage stage);
  bool keep_for(Stage stage);
  [[nodiscard]] double worth_of(Stage stage, ValueId value, double all, const auto& change);
  [[nodiscard]] double all_lack();
  [[nodiscard]] bool is_possible(const Gap& gap);
  [[nodiscard]] double bound_of(const Gap& gap, Stage worst);
  [[nodiscard]] double score_of(const Gap& gap, Stage worst);
  [[nodiscard]] double freed_as_tasted(ValueId value, Stage worst, double freed) const;
  [[nodiscard]] double freed_in(ValueId value, Span stages) const;
  [[nodiscard]] double with_noise(double cost);
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
  void spare(const Remake& remake, bool yes);
  [[nodiscard]] std::vector<Remake> brought_in(Stage stage) const;
  [[nodiscard]] std::vector<Stage> chosen_stages();

  Stays stays_;
  const Problem& problem_;
  Bytes budget_;
  Going going_;
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
  std::vector<Gap> pinned_;     // do not go
  std::vector<Spared> spared_;  // nor do these; by value
  base::Rng rng_{1};
};

}  // namespace weir::plan
