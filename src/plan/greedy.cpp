#include "plan/greedy.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace weir::plan {
namespace {

// A value is kept from stage to stage without being read, up to `last`, in which it is.
struct Stay {
  ValueId value;
  Stage first, last;
};

class Greedy {
 public:
  Greedy(const Problem& problem, Bytes budget, Retention retention)
      : problem_{problem}, budget_{budget}, retention_{std::move(retention)} {}

  // Drops stays until the budget is kept; false if that cannot be.
  bool fit() {
    while (look() && plan_->peak > budget_) {
      const std::optional<Stay> stay = cheapest();
      if (!stay) return false;
      for (Stage stage = stay->first; stage <= stay->last; ++stage)
        retention_.drop(stage, stay->value);
    }
    return plan_.has_value();
  }

  void improve() {
    for (bool better = true; better;) {
      better = false;
      for (const Stay& gap : gaps())
        if (fill(gap)) better = true;
    }
  }

  [[nodiscard]] const Retention& retention() const { return retention_; }

 private:
  bool look() {
    runs_ = runs_for(problem_, retention_);
    plan_.reset();
    if (runs_) plan_ = plan_of(problem_, retention_, *runs_, budget_);
    return plan_.has_value();
  }

  [[nodiscard]] bool reads(Stage stage, const Value& value) const {
    const auto runs = [&](std::uint32_t user) { return user <= stage && runs_->at(stage, user); };
    return value.held_in(stage) || std::ranges::any_of(value.users, runs);
  }

  [[nodiscard]] std::optional<Stay> cheapest() const {
    std::optional<Stay> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      if (problem_.values[i].view_of != kNoValue || problem_.values[i].maker == kNobody) continue;
      if (ValueId{i} == spared_) continue;
      for_each_stay(ValueId{i}, [&](const Stay& stay) {
        const double score = score_of(stay);
        if (score >= least) return;
        best = stay;
        least = score;
      });
    }
    return best;
  }

  // Those after which the value could be made again, or is not read any more.
  void for_each_stay(ValueId id, const auto& visit) const {
    const Value& value = problem_[id];
    const Stage end = std::min(value.last_remake, problem_.end());
    Stage first = std::max(value.appears, problem_.start.first) + 1;
    for (Stage stage = first; stage <= end; ++stage) {
      if (!retention_.keeps(stage, id)) {
        first = stage + 1;
        continue;
      }
      const bool ends = stage == problem_.end() || !retention_.keeps(stage + 1, id);
      if (!ends && !reads(stage, value)) continue;
      visit(Stay{id, first, stage});
      first = stage + 1;
    }
  }

  // The lower, the sooner it goes; infinite if it cannot go or would not help.
  [[nodiscard]] double score_of(const Stay& stay) const {
    const double bytes = freed(stay);
    if (bytes <= 0) return std::numeric_limits<double>::infinity();
    const bool read = reads(stay.last, problem_[stay.value]);
    const std::optional<Nanos> cost = read ? cost_of_remaking(stay) : Nanos{};
    if (!cost) return std::numeric_limits<double>::infinity();
    return (static_cast<double>(cost->n) + 1e-3) / bytes;
  }

  // The bytes by which too much is there, as far as this stay takes them. In its last stage the
  // value comes back at some point, so only half of that counts.
  [[nodiscard]] double freed(const Stay& stay) const {
    const auto size = static_cast<double>(problem_[stay.value].size.n);
    double sum = 0;
    for (Stage stage = stay.first; stage <= stay.last; ++stage) {
      const auto lack = static_cast<double>((plan_->stage_peaks[stage] - budget_).n);
      sum += std::clamp(lack, 0.0, size) * (stage == stay.last ? 0.5 : 1.0);
    }
    return sum;
  }

  // Of the ops that would have to run in the last stage and do not yet.
  [[nodiscard]] std::optional<Nanos> cost_of_remaking(const Stay& stay) const {
    std::vector<std::uint32_t> work{problem_[stay.value].maker}, seen = work;
    Nanos sum;
    while (!work.empty()) {
      const std::uint32_t op = work.back();
      work.pop_back();
      sum += problem_.ops[op].cost;
      for (ValueId input : problem_.ops[op].inputs) {
        const Value& value = problem_[input];
        if (retention_.keeps(stay.last, input) || value.appears == stay.last) continue;
        if (value.maker == kNobody || stay.last > value.last_remake) return std::nullopt;
        if (runs_->at(stay.last, value.maker) || std::ranges::find(seen, value.maker) != seen.end())
          continue;
        work.push_back(value.maker);
        seen.push_back(value.maker);
      }
    }
    return sum;
  }

  // Where a value is made again: the stages since it was there last, and that one.
  [[nodiscard]] std::vector<Stay> gaps() const {
    std::vector<Stay> found;
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      const Value& value = problem_.values[i];
      if (value.maker == kNobody) continue;
      Stage there = std::max(value.appears, problem_.start.first);
      for (Stage stage = there + 1; stage <= problem_.end(); ++stage) {
        const bool kept = retention_.keeps(stage, ValueId{i});
        if (!kept && !runs_->at(stage, value.maker)) continue;
        if (!kept) found.push_back({ValueId{i}, there + 1, stage});
        there = stage;
      }
    }
    return found;
  }

  bool fill(const Stay& gap) {
    const Nanos cost = plan_->cost;
    const Retention before = retention_;
    for (Stage stage = gap.first; stage <= gap.last; ++stage) retention_.keep(stage, gap.value);
    spared_ = gap.value;
    const bool better = fit() && plan_->cost < cost;
    spared_ = kNoValue;
    if (better) return true;
    retention_ = before;
    look();
    return false;
  }

  const Problem& problem_;
  Bytes budget_;
  Retention retention_;
  std::optional<Runs> runs_;
  std::optional<Plan> plan_;
  ValueId spared_ = kNoValue;  // no stay of it goes
};

}  // namespace

void try_greedy(const Problem& problem, Bytes budget, const Try& consider) {
  Retention all{problem};
  for (std::uint32_t i = 0; i < problem.values.size(); ++i)
    keep_until(all, problem, ValueId{i}, last_read(problem, ValueId{i}));
  Greedy greedy{problem, budget, std::move(all)};
  if (!greedy.fit()) return;
  greedy.improve();
  consider(greedy.retention());
}

Retention improved(const Problem& problem, Bytes budget, const Retention& retention) {
  Greedy greedy{problem, budget, retention};
  if (!greedy.fit()) return retention;
  greedy.improve();
  return greedy.retention();
}

}  // namespace weir::plan
