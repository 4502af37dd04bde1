#include "plan/fast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

namespace weir::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr Nanos kAnyCost{std::numeric_limits<std::int64_t>::max()};
constexpr std::int64_t kScore = 100;  // the work of one, beside that of its effect

// What counts in a score, beside cost and bytes freed where they lack.
struct Taste {
  double time = 1;   // for how long: 1, that all stages count; 0, that the worst one does
  double crowd = 1;  // how bad it is to make a stage too large by making things again there
};

class Search {
 public:
  Search(Stays stays, Bytes budget, Taste taste, std::int64_t work)
      : stays_{std::move(stays)},
        problem_{stays_.problem()},
        budget_{budget},
        taste_{taste},
        allowed_{stays_.work() + work},
        memory_(problem_.values.size()),
        over_(problem_.end() + 2),
        stages_over_(problem_.end() + 2) {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].size.n > 0 && problem_.values[i].maker != kNobody)
        candidates_.push_back(ValueId{i});
  }

  // Drops until the budget is kept, for less than this cost; false if that cannot be.
  bool fit(Nanos limit) {
    pinned_.clear();
    unpins_left_ = 8;
    for (std::size_t steps = 0; steps < 4 * candidates_.size() + 64; ++steps) {
      if (!stays_.sound() || stays_.cost() >= limit) return false;
      if (limit != kAnyCost && work_left() <= 0) return false;
      const Stage worst = find_lack();
      if (stays_.peak(worst) <= budget_) return true;
      if (const std::optional<Choice> choice = cheapest(worst))
        apply(*choice);
      else if (!shorten(worst) && !unpin())
        return false;
    }
    return false;
  }

  // What is made again stays instead, and other things go for it, while that saves time.
  void improve() {
    for (bool better = true; better && work_left() > 0;) {
      better = false;
      for (const Remake& remake : remakes()) {
        if (work_left() <= 0) return;
        if (better_without(remake)) better = true;
      }
    }
  }

  [[nodiscard]] std::int64_t work_left() const { return allowed_ - work_ - stays_.work(); }
  void allow(std::int64_t work) { allowed_ = work_ + stays_.work() + work; }
  [[nodiscard]] Stays& stays() { return stays_; }

 private:
  struct Choice {
    ValueId value;
    Span gap;
  };
  struct Remake {
    ValueId value;
    Stage stage;
    Nanos cost;
  };
  struct Remembered {
    Span gap{1, 0};
    std::uint64_t at = 0;
    Stays::Effect effect;
  };

  // Sums over stages of the bytes that are too many; the stage with the most bytes.
  Stage find_lack() {
    work_ += problem_.end();
    Stage worst = problem_.start.first;
    for (Stage stage = problem_.start.first; stage <= problem_.end(); ++stage) {
      const Bytes peak = stays_.peak(stage);
      if (peak > stays_.peak(worst)) worst = stage;
      const double over = std::max(0.0, static_cast<double>((peak - budget_).n));
      over_[stage + 1] = over_[stage] + over;
      stages_over_[stage + 1] = stages_over_[stage] + (over > 0 ? 1 : 0);
    }
    return worst;
  }

  [[nodiscard]] std::optional<Choice> cheapest(Stage worst) {
    work_ += 5 * static_cast<std::int64_t>(candidates_.size());
    std::optional<Choice> best;
    double least = kNever;
    for (ValueId value : candidates_) {
      if (value == spared_ || !stays_.keeps(worst, value)) continue;
      const std::optional<Span> gap = stays_.gap_at(worst, value);
      if (!gap || is_pinned(value, *gap)) continue;
      work_ += kScore;
      const double score = score_of(value, *gap, worst);
      if (score >= least) continue;
      least = score;
      best = Choice{value, *gap};
    }
    return best;
  }

  [[nodiscard]] bool is_pinned(ValueId value, Span gap) const {
    return std::ranges::any_of(pinned_, [&](const Choice& pin) {
      return pin.value == value && pin.gap.first <= gap.last && gap.first <= pin.gap.last;
    });
  }

  // Where making things again takes too many bytes: something that is read or made there is made
  // again later, or something stays until then, for good, so that less is made.
  bool shorten(Stage stage) { return postpone(stage) || keep_for(stage); }

  bool unpin() {
    if (pinned_.empty() || unpins_left_ == 0) return false;
    pinned_.clear();
    --unpins_left_;
    return true;
  }

  bool postpone(Stage stage) {
    std::optional<Choice> best;
    double most = 0;
    for (ValueId value : candidates_) {
      if (value == spared_ || stage == problem_.end() || !stays_.keeps(stage + 1, value)) continue;
      const std::optional<Span> gap = stays_.gap_at(stage + 1, value);
      if (!gap || gap->first != stage + 1) continue;
      const double worth = worth_of(stage, value, [&] { stays_.drop(value, *gap); });
      if (worth <= most) continue;
      most = worth;
      best = Choice{value, *gap};
    }
    if (best) stays_.drop(best->value, best->gap);
    return best.has_value();
  }

  bool keep_for(Stage stage) {
    std::optional<Choice> best;
    double most = 0;
    const std::vector<std::uint32_t> runs{stays_.reruns(stage).begin(), stays_.reruns(stage).end()};
    for (std::uint32_t op : runs)
      for (ValueId output : problem_.ops[op].outputs) {
        const Span span = missing_before(stage, output);
        if (stays_.keeps(stage, output) || !may_keep(output, span)) continue;
        const double worth = worth_of(stage, output, [&] { stays_.keep(output, span); });
        if (worth <= most) continue;
        most = worth;
        best = Choice{output, span};
      }
    if (!best) return false;
    stays_.keep(best->value, best->gap);
    pinned_.push_back(*best);
    return true;
  }

  // The bytes fewer that a change takes in a stage, by those it takes more of elsewhere; 0 if it is
  // not possible.
  [[nodiscard]] double worth_of(Stage stage, ValueId value, const auto& change) {
    work_ += 2 * std::int64_t{problem_.end()};
    const double before = lack(stays_.peak(stage)), all = all_lack();
    const std::size_t mark = stays_.mark();
    change();
    const double mended = before - lack(stays_.peak(stage));
    const double added = all_lack() - all + mended;
    const bool sound = stays_.sound();
    stays_.undo(mark);
    return sound ? mended / (std::max(0.0, added) + static_cast<double>(problem_[value].size.n) + 1)
                 : 0;
  }

  [[nodiscard]] double all_lack() const {
    double sum = 0;
    for (Stage stage = problem_.start.first; stage <= problem_.end(); ++stage)
      sum += lack(stays_.peak(stage));
    return sum;
  }

  // The lower, the sooner it goes.
  [[nodiscard]] double score_of(ValueId value, Span gap, Stage worst) {
    const Stays::Effect& effect = effect_of(value, gap);
    if (!effect.possible || (gap.last == worst && effect.peak >= stays_.peak(worst))) return kNever;
    const auto size = static_cast<double>(problem_[value].size.n);
    double freed = std::min(over_[gap.last] - over_[gap.first],
                            size * (stages_over_[gap.last] - stages_over_[gap.first]));
    const double less = lack(stays_.peak(gap.last)) - lack(effect.peak);
    freed += less < 0 ? taste_.crowd * less : less;
    for (ValueId lacking : effect.lacking) freed -= added_lack(lacking, gap.last);
    if (freed <= 0) return kNever;
    const double cost = static_cast<double>(effect.cost.n) - saved_after(effect, gap.last);
    if (taste_.time < 1) {
      const double here = std::min(size, lack(stays_.peak(worst)));
      freed = std::pow(freed, taste_.time) * std::pow(here, 1 - taste_.time);
    }
    return (std::max(0.0, cost) + 1e-3) / freed;
  }

  [[nodiscard]] double lack(Bytes peak) const {
    return std::max(0.0, static_cast<double>((peak - budget_).n));
  }

  // What too much there would be if the value stayed up to this stage.
  [[nodiscard]] double added_lack(ValueId value, Stage last) const {
    const Span span = missing_before(last, value);
    if (!may_keep(value, span)) return kNever;
    double sum = 0;
    for (Stage stage = span.first; stage <= span.last; ++stage)
      sum += lack(stays_.peak(stage) + problem_[value].size) - lack(stays_.peak(stage));
    return sum;
  }

  // From where it was there last; empty if it never was.
  [[nodiscard]] Span missing_before(Stage stage, ValueId value) const {
    const Stage there = stays_.last_there(stage, value);
    return there == kNobody ? Span{1, 0} : Span{there + 1, stage};
  }

  [[nodiscard]] bool may_keep(ValueId id, Span span) const {
    const Value& value = problem_[id];
    if (span.first > span.last || span.last > value.end()) return false;
    if (value.view_of == kNoValue) return true;
    for (Stage stage = span.first; stage <= span.last; ++stage)
      if (!stays_.keeps(stage, value.view_of)) return false;
    return true;
  }

  const Stays::Effect& effect_of(ValueId value, Span gap) {
    Remembered& known = memory_[index(value)];
    const auto newer = [&](ValueId other) { return stays_.version(other) > known.at; };
    if (known.gap != gap || stays_.version(gap.last) > known.at || newer(value) ||
        std::ranges::any_of(known.effect.depends_on, newer)) {
      known = {gap, stays_.clock(), stays_.effect_of_drop(value, gap)};
    }
    return known.effect;
  }

  // Where an op that now runs again in a stage did so later too, and what it makes fits meanwhile.
  [[nodiscard]] double saved_after(const Stays::Effect& effect, Stage stage) const {
    double saved = 0;
    for (std::uint32_t op : effect.added) {
      const Stage later = stays_.next_rerun(op, stage);
      if (later != kNobody && outputs_fit(op, {stage + 1, later}))
        saved += static_cast<double>(problem_.ops[op].cost.n);
    }
    return saved;
  }

  [[nodiscard]] bool outputs_fit(std::uint32_t op, Span span) const {
    return std::ranges::all_of(problem_.ops[op].outputs, [&](ValueId output) {
      return may_keep(output, span) && fits(problem_[output].size, span);
    });
  }

  [[nodiscard]] bool fits(Bytes size, Span span) const {
    for (Stage stage = span.first; stage <= span.last; ++stage)
      if (stays_.peak(stage) + size > budget_) return false;
    return true;
  }

  void apply(const Choice& choice) {
    const std::vector<std::uint32_t> added = effect_of(choice.value, choice.gap).added;
    const std::vector<ValueId> lacking = effect_of(choice.value, choice.gap).lacking;
    const Stage stage = choice.gap.last;
    stays_.drop(choice.value, choice.gap);
    for (ValueId value : lacking) stays_.keep(value, missing_before(stage, value));
    for (std::uint32_t op : added) {
      const Stage later = stays_.next_rerun(op, stage);
      if (later == kNobody || !outputs_fit(op, {stage + 1, later})) continue;
      for (ValueId output : problem_.ops[op].outputs)
        if (!stays_.keeps(later, output)) keep_after(stage, output, later);
    }
  }

  // Unless more would have to be there in the stage itself than fits.
  void keep_after(Stage stage, ValueId value, Stage last) {
    const double before = lack(stays_.peak(stage));
    const std::size_t mark = stays_.mark();
    stays_.keep(value, {stage + 1, last});
    if (lack(stays_.peak(stage)) > before) stays_.undo(mark);
  }

  [[nodiscard]] std::vector<Remake> remakes() const {
    std::vector<Remake> found;
    for (Stage stage = problem_.start.first; stage <= problem_.end(); ++stage)
      for (std::uint32_t op : stays_.reruns(stage))
        for (ValueId output : problem_.ops[op].outputs)
          if (!stays_.keeps(stage, output)) found.push_back({output, stage, problem_.ops[op].cost});
    std::ranges::stable_sort(found, std::ranges::greater{}, &Remake::cost);
    return found;
  }

  bool better_without(const Remake& remake) {
    const auto reruns = stays_.reruns(remake.stage);
    if (!std::ranges::binary_search(reruns, problem_[remake.value].maker)) return false;
    if (stays_.keeps(remake.stage, remake.value)) return false;
    const Span span = missing_before(remake.stage, remake.value);
    if (!may_keep(remake.value, span)) return false;
    const std::size_t mark = stays_.mark();
    const Nanos before = stays_.cost();
    stays_.keep(remake.value, span);
    spared_ = remake.value;
    const bool better = stays_.cost() < before && fit(before);
    spared_ = kNoValue;
    if (!better) stays_.undo(mark);
    return better;
  }

  Stays stays_;
  const Problem& problem_;
  Bytes budget_;
  Taste taste_;
  std::int64_t allowed_, work_ = 0;
  std::vector<ValueId> candidates_;
  std::vector<Remembered> memory_;  // by value
  std::vector<double> over_;        // by stage, of all before
  std::vector<double> stages_over_;
  int unpins_left_ = 0;
  std::vector<Choice> pinned_;  // does not go
  ValueId spared_ = kNoValue;   // nor does this
};

// None is the best everywhere. The first is so most often.
constexpr Taste kTastes[] = {{0, 0}, {0, 1}, {1, 1}, {0.5, 1}, {1, 0}, {0, 30}};

}  // namespace

std::optional<Stays> plan_fast(const Problem& problem, Bytes budget, const FastOptions& options) {
  std::vector<std::unique_ptr<Search>> found;
  const Stays all{problem};
  std::int64_t work = options.work;
  for (const Taste& taste : kTastes) {
    if (!found.empty() && work < options.work / 2) break;
    auto search = std::make_unique<Search>(all, budget, taste, work);
    const bool fits = search->fit(kAnyCost);
    work = search->work_left();
    if (fits) found.push_back(std::move(search));
  }
  const auto cost = [](const auto& search) { return search->stays().cost(); };
  std::ranges::sort(found, {}, cost);
  for (const auto& search : found) {  // those that begin best have the most time
    const std::int64_t share = work / 2;
    search->allow(share);
    search->improve();
    work -= share - search->work_left();
  }
  const auto best = std::ranges::min_element(found, {}, cost);
  if (best == found.end()) return std::nullopt;
  return std::move((*best)->stays());
}

const Plan* Frontier::plan(Bytes budget) {
  if (std::optional<Stays> stays = plan_fast(*problem_, budget, options_))
    plans_.push_back(stays->plan(budget));
  const Plan* best = nullptr;
  for (Plan& plan : plans_)
    if (plan.peak <= budget && (!best || plan.cost < best->cost)) best = &plan;
  return best;
}

}  // namespace weir::plan
