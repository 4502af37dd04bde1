#include "plan/search.h"

#include <algorithm>
#include <cmath>

namespace weir::plan {
namespace {

constexpr std::int64_t kScore = 60;  // the work of one, beside that of its effect

}  // namespace

Search::Search(Stays stays, Bytes budget, std::int64_t work, Going going)
    : stays_{std::move(stays)},
      problem_{stays_.problem()},
      budget_{budget},
      going_{going},
      allowed_{stays_.work() + work},
      memory_(problem_.values.size()),
      over_(problem_.end() + 2),
      stages_over_(problem_.end() + 2),
      spared_(problem_.values.size()) {
  for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
    if (problem_.values[i].size.n > 0 &&
        (problem_.values[i].maker != kNobody || going_ == Going::OrCopied))
      candidates_.push_back(ValueId{i});
}

bool Search::fit(const Taste& taste, Nanos limit) {
  taste_ = taste;
  limit_ = limit;
  pinned_.clear();
  unpins_left_ = 8;
  for (std::size_t steps = 0; steps < 4 * candidates_.size() + 64; ++steps) {
    if (is_too_dear() || work_left() <= 0) return false;
    const Stage worst = find_lack();
    if (!is_over(worst)) return true;
    if (drop_in(worst)) continue;
    if (refused_ || (!postpone(worst) && !keep_for(worst) && !unpin())) return false;
  }
  return false;
}

// Sums over stages of the bytes that are too many; the stage with the most bytes.
Stage Search::find_lack() {
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

// Drops, while bytes lack there, what has the least score. Exact scores are found for those only
// that come first by their bounds. False if nothing could go.
bool Search::drop_in(Stage worst) {
  list(worst);
  const auto later = [](const Scored& a, const Scored& b) { return a.score > b.score; };
  std::ranges::make_heap(listed_, later);
  bool dropped = false;
  while (!listed_.empty()) {
    std::ranges::pop_heap(listed_, later);
    Scored next = listed_.back();
    listed_.pop_back();
    if (next.exact_at != stays_.clock()) {
      next.score = score_now(next, worst);
      next.exact_at = stays_.clock();
      if (next.score == kNever) continue;
      if (!listed_.empty() && next.score > listed_.front().score) {
        listed_.push_back(next);
        std::ranges::push_heap(listed_, later);
        continue;
      }
    }
    apply(next, worst);
    dropped = true;
    if (is_too_dear() || !is_over(worst)) break;
    find_lack();
  }
  return dropped;
}

double Search::score_now(const Scored& listed, Stage worst) {
  if (listed.copied) {
    const std::optional<CopyGap> gap = copyable(worst, listed.value);
    return gap ? score_of(*gap, worst) : kNever;
  }
  const std::optional<Gap> gap = droppable(worst, listed.value);
  return gap ? score_of(*gap, worst) : kNever;
}

void Search::apply(const Scored& listed, Stage worst) {
  if (listed.copied)
    apply(*copyable(worst, listed.value));
  else
    apply(*droppable(worst, listed.value));
}

void Search::list(Stage worst) {
  work_ += static_cast<std::int64_t>(candidates_.size());
  listed_.clear();
  refused_ = false;
  for (ValueId value : candidates_) {
    const std::optional<Gap> gap = droppable(worst, value);
    const double bound = gap ? bound_of(*gap, worst) : kNever;
    if (bound < kNever) listed_.push_back({bound, value});
    if (going_ == Going::MadeAgain) continue;
    const std::optional<CopyGap> copy = copyable(worst, value);
    const double copied = copy ? bound_of(*copy, worst) : kNever;
    if (copied < kNever) listed_.push_back({copied, value, true});
  }
}

std::optional<Search::Gap> Search::droppable(Stage stage, ValueId value) const {
  const Span hull = stays_.hull(value);
  if (stage < hull.first || stage > hull.last || spared_[index(value)].made_again)
    return std::nullopt;
  if (!stays_.keeps(stage, value)) return std::nullopt;
  const std::optional<Span> gap = stays_.gap_at(stage, value);
  if (!gap || is_pinned(value, *gap)) return std::nullopt;
  return Gap{value, *gap};
}

bool Search::is_pinned(ValueId value, Span gap) const {
  return std::ranges::any_of(pinned_, [&](const Gap& pin) {
    return pin.value == value && pin.span.first <= gap.last && gap.first <= pin.span.last;
  });
}

bool Search::unpin() {
  if (pinned_.empty() || unpins_left_ == 0) return false;
  pinned_.clear();
  --unpins_left_;
  return true;
}

// Where making things again takes too many bytes: something that is read or made there is made
// again later,
bool Search::postpone(Stage stage) {
  if (stage == problem_.end()) return false;
  std::optional<Gap> best;
  double most = 0;
  const double all = all_lack();
  work_ += static_cast<std::int64_t>(candidates_.size());
  for (ValueId value : candidates_) {
    const std::optional<Gap> gap = droppable(stage + 1, value);
    if (!gap || gap->span.first != stage + 1) continue;
    const double worth = worth_of(stage, value, all, [&] { stays_.drop(value, gap->span); });
    if (worth <= most) continue;
    most = worth;
    best = *gap;
  }
  if (best) stays_.drop(best->value, best->span);
  return best.has_value();
}

// or something stays until then, for good, so that less is made.
bool Search::keep_for(Stage stage) {
  std::optional<Gap> best;
  double most = 0;
  const double all = all_lack();
  const std::vector<std::uint32_t> runs{stays_.reruns(stage).begin(), stays_.reruns(stage).end()};
  for (std::uint32_t op : runs)
    for (ValueId output : problem_.ops[op].outputs) {
      const Span span = missing_before(stage, output);
      if (stays_.keeps(stage, output) || !may_keep(output, span)) continue;
      const double worth = worth_of(stage, output, all, [&] { stays_.keep(output, span); });
      if (worth <= most) continue;
      most = worth;
      best = Gap{output, span};
    }
  if (!best) return false;
  stays_.keep(best->value, best->span);
  pinned_.push_back(*best);
  return true;
}

// The bytes fewer that a change takes in a stage, by those it takes more of elsewhere; 0 if it is
// not possible.
double Search::worth_of(Stage stage, ValueId value, double all, const auto& change) {
  const double before = lack(stays_.peak(stage));
  const std::size_t mark = stays_.mark();
  change();
  const double mended = before - lack(stays_.peak(stage));
  const double added = mended > 0 ? all_lack() - all + mended : 0;
  const bool sound = stays_.sound();
  stays_.undo(mark);
  return sound ? mended / (std::max(0.0, added) + static_cast<double>(problem_[value].size.n) + 1)
               : 0;
}

double Search::all_lack() {
  work_ += problem_.end();
  double sum = 0;
  for (Stage stage = problem_.start.first; stage <= problem_.end(); ++stage)
    sum += lack(stays_.peak(stage));
  return sum;
}

bool Search::is_possible(const Gap& gap) {
  const Stays::Added& added = added_by(gap);
  if (!added.possible) return false;
  if (added.cost < most_added()) return true;
  refused_ = true;
  return false;
}

// The lower, the sooner it goes. The stage at the gap's end is the matter of score_of.
double Search::bound_of(const Gap& gap, Stage worst) {
  work_ += kScore;
  if (!is_possible(gap)) return kNever;
  const double freed =
      freed_in(gap.value, {gap.span.first, gap.span.last - 1}) + lack(stays_.peak(gap.span.last));
  return freed > 0 ? cost_of(gap) / freed_as_tasted(gap.value, worst, freed) : kNever;
}

double Search::score_of(const Gap& gap, Stage worst) {
  work_ += kScore;
  if (!is_possible(gap)) return kNever;
  const Stage last = gap.span.last;
  const Stays::Effect effect = stays_.effect_of_drop(gap.value, gap.span);
  if (last == worst && effect.peak >= stays_.peak(worst)) return kNever;
  double freed = freed_in(gap.value, {gap.span.first, gap.span.last - 1});
  const double less = lack(stays_.peak(last)) - lack(effect.peak);
  freed += less < 0 ? taste_.crowd * less : less;
  for (ValueId lacking : effect.lacking)
    if (freed > 0) freed -= added_lack(lacking, last, freed);
  return freed > 0 ? cost_of(gap) / freed_as_tasted(gap.value, worst, freed) : kNever;
}

double Search::freed_in(ValueId value, Span stages) const {
  const auto [first, last] = stages;
  return std::min(
      over_[last + 1] - over_[first],
      static_cast<double>(problem_[value].size.n) * (stages_over_[last + 1] - stages_over_[first]));
}

double Search::freed_as_tasted(ValueId value, Stage worst, double freed) const {
  if (taste_.time >= 1) return freed;
  const double here =
      std::min(static_cast<double>(problem_[value].size.n), lack(stays_.peak(worst)));
  return std::pow(freed, taste_.time) * std::pow(here, 1 - taste_.time);
}

double Search::with_noise(double cost) {
  if (taste_.noise == 0) return cost;
  return cost * (1 + taste_.noise * 1e-3 * static_cast<double>(rng_.below(1000)));
}

// What else would have to run may have to anyway, for other things that go.
double Search::cost_of(const Gap& gap) {
  const Stays::Added& added = added_by(gap);
  const double now = static_cast<double>(added.cost.n) - saved_after(added, gap.span.last);
  const double all = with_noise(std::max(0.0, now) + 1e-3);
  if (taste_.own == 0) return all;
  const double own = static_cast<double>(problem_.ops[problem_[gap.value].maker].cost.n) + 1e-3;
  return std::pow(all, 1 - taste_.own) * std::pow(own, taste_.own);
}

double Search::lack(Bytes peak) const {
  return std::max(0.0, static_cast<double>((peak - budget_).n));
}

// What too much there would be if the value stayed up to this stage; exact below `most`.
double Search::added_lack(ValueId value, Stage last, double most) {
  const Span span = missing_before(last, value);
  if (!may_keep(value, span)) return kNever;
  double sum = 0;
  Stage stage = span.first;
  for (; stage <= span.last && sum < most; ++stage)
    sum += lack(stays_.peak(stage) + problem_[value].size) - lack(stays_.peak(stage));
  work_ += 2 * (stage - span.first);
  return sum;
}

// From where it was there last, or from when it comes back to where it does now; empty if it never
// was.
Span Search::missing_before(Stage stage, ValueId value) const {
  if (const std::optional<Span> away = stays_.away_at(stage, value)) {
    const Stage back = stays_.traffic().slot_for_read(problem_[value].size, stage);
    return {std::max(back, away->first), away->last};
  }
  const Stage there = stays_.last_there(stage, value);
  return there == kNobody ? Span{1, 0} : Span{there + 1, stage};
}

bool Search::may_keep(ValueId id, Span span) const {
  const Value& value = problem_[id];
  if (span.first > span.last || span.last > value.end()) return false;
  if (value.view_of == kNoValue) return true;
  for (Stage stage = span.first; stage <= span.last; ++stage)
    if (!stays_.keeps(stage, value.view_of)) return false;
  return true;
}

const Stays::Added& Search::added_by(const Gap& gap) {
  Remembered& known = memory_[index(gap.value)];
  const auto newer = [&](ValueId other) { return stays_.version(other) > known.at; };
  const Nanos most = most_added();
  const bool enough = known.added.cost <= known.most || known.added.cost >= most;
  if (!enough || known.gap != gap.span || stays_.version(gap.span.last) > known.at ||
      newer(gap.value) || std::ranges::any_of(known.added.depends_on, newer))
    known = {gap.span, stays_.clock(), most, stays_.added_by_drop(gap.value, gap.span, most)};
  return known.added;
}

// Some of it may be saved later.
Nanos Search::most_added() const {
  if (limit_ == kAnyCost) return kAnyCost;
  return {2 * (limit_ - stays_.cost()).n};
}

// Where an op that now runs again in a stage did so later too, and what it makes fits meanwhile.
double Search::saved_after(const Stays::Added& added, Stage stage) {
  work_ += 10 * static_cast<std::int64_t>(added.ops.size());
  double saved = 0;
  for (std::uint32_t op : added.ops) {
    const Stage later = stays_.next_rerun(op, stage);
    if (later != kNobody && outputs_fit(op, {stage + 1, later}))
      saved += static_cast<double>(problem_.ops[op].cost.n);
  }
  return saved;
}

bool Search::outputs_fit(std::uint32_t op, Span span) {
  return std::ranges::all_of(problem_.ops[op].outputs, [&](ValueId output) {
    return may_keep(output, span) && fits(problem_[output].size, span);
  });
}

bool Search::fits(Bytes size, Span span) {
  Stage stage = span.first;
  while (stage <= span.last && stays_.peak(stage) + size <= budget_) ++stage;
  work_ += stage - span.first;
  return stage > span.last;
}

void Search::apply(const Gap& choice) {
  const std::vector<std::uint32_t> added = added_by(choice).ops;
  const std::vector<ValueId> lacking = stays_.effect_of_drop(choice.value, choice.span).lacking;
  const Stage stage = choice.span.last;
  stays_.drop(choice.value, choice.span);
  for (ValueId value : lacking) {
    const Gap missing{value, missing_before(stage, value)};
    if (stays_.away_at(stage, value))
      pinned_.push_back(missing);  // or it would go again, and so on
    stays_.keep(value, missing.span);
  }
  for (std::uint32_t op : added) {
    const Stage later = stays_.next_rerun(op, stage);
    if (later == kNobody || !outputs_fit(op, {stage + 1, later})) continue;
    for (ValueId output : problem_.ops[op].outputs)
      if (!stays_.keeps(later, output)) keep_after(stage, output, later);
  }
}

// Unless more would have to be there in the stage itself than fits.
void Search::keep_after(Stage stage, ValueId value, Stage last) {
  const double before = lack(stays_.peak(stage));
  const std::size_t mark = stays_.mark();
  stays_.keep(value, {stage + 1, last});
  if (lack(stays_.peak(stage)) > before) stays_.undo(mark);
}

}  // namespace weir::plan
