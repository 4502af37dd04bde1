#include "plan/greedy.h"

#include <algorithm>
#include <limits>

namespace weir::plan {
namespace {

// A value is kept from stage to stage without being read, up to `last`, in which it is.
struct Stay {
  ValueId value;
  Stage first, last;
};

class Greedy {
 public:
  Greedy(const Problem& problem, Bytes budget)
      : problem_{problem}, budget_{budget}, retention_{problem} {
    for (std::uint32_t i = 0; i < problem.values.size(); ++i)
      keep_until(retention_, problem, ValueId{i}, last_read(problem, ValueId{i}));
  }

  std::optional<Retention> run() && {
    while (look() && plan_->peak > budget_) {
      const std::optional<Stay> stay = cheapest();
      if (!stay) return std::nullopt;
      drop(*stay);
      dropped_.push_back(*stay);
    }
    if (!plan_) return std::nullopt;
    while (keep_again()) {
    }
    return std::move(retention_);
  }

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

  void drop(const Stay& stay) {
    for (Stage stage = stay.first; stage <= stay.last; ++stage) retention_.drop(stage, stay.value);
  }

  // Goes through all that was dropped; true if something is kept again that saves time.
  bool keep_again() {
    bool better = false;
    std::erase_if(dropped_, [&](const Stay& stay) {
      const Nanos cost = plan_->cost;
      const Retention before = retention_;
      for (Stage stage = stay.first; stage <= stay.last; ++stage)
        retention_.keep(stage, stay.value);
      if (look() && plan_->peak <= budget_ && plan_->cost < cost) return better = true;
      retention_ = before;
      look();
      return false;
    });
    return better;
  }

  const Problem& problem_;
  Bytes budget_;
  Retention retention_;
  std::optional<Runs> runs_;
  std::optional<Plan> plan_;
  std::vector<Stay> dropped_;
};

}  // namespace

void try_greedy(const Problem& problem, Bytes budget, const Try& consider) {
  if (const std::optional<Retention> found = Greedy{problem, budget}.run()) consider(*found);
}

}  // namespace weir::plan
