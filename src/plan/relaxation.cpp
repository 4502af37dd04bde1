#include "plan/relaxation.h"

#include <algorithm>
#include <functional>

#include "plan/answer.h"

namespace weir::plan {
namespace {

constexpr int kRounds = 300;
constexpr double kNewest = 0.1;  // of a mean over rounds, what the last one counts
constexpr double kAway = 0.3;    // what is away by more than this goes
constexpr double kPace = 0.1;    // of the way to the bound hoped for, at first
constexpr int kMostInVain = 10;  // rounds, until steps are shorter
constexpr double kShorter = 0.7;

}  // namespace

Relaxation::Relaxation(const Problem& problem, Bytes budget)
    : problem_{problem},
      lack_(problem.end() + 2),
      price_(problem.end() + 2),
      best_price_(problem.end() + 2),
      direction_(problem.end() + 2),
      before_(problem.end() + 2),
      change_(problem.end() + 2) {
  Stays all{problem};
  for (Stage stage = problem.start.first; stage <= problem.end(); ++stage)
    lack_[stage] = static_cast<double>((all.peak(stage) - budget).n);
  find_gaps(all);
}

// In the last stage of a gap the value is read, so it is there.
void Relaxation::find_gaps(Stays& all) {
  for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
    const ValueId value{i};
    const Span hull = all.hull(value);
    for (Stage stage = hull.first; stage <= hull.last; ++stage) {
      const std::optional<Span> gap = all.gap_at(stage, value);
      if (!gap || problem_[value].size == Bytes{}) continue;
      stage = std::max(stage, gap->last);
      if (gap->first == gap->last || !all.added_by_drop(value, *gap, kMostNanos).possible) continue;
      gaps_.push_back({.value = value,
                       .span = *gap,
                       .cost = static_cast<double>(problem_.ops[problem_[value].maker].cost.n),
                       .bytes = static_cast<double>(problem_[value].size.n)});
    }
  }
}

void Relaxation::price(Stays& around) {
  for (Gap& gap : gaps_) gap.cost = cost_around(around, gap);
}

double Relaxation::cost_around(Stays& stays, const Gap& gap) const {
  const Stage last = gap.span.last;
  if (stays.keeps(last, gap.value)) {
    const std::optional<Span> now = stays.gap_at(last, gap.value);
    if (!now) return gap.cost;
    const Stays::Added added = stays.added_by_drop(gap.value, *now, kMostNanos);
    return added.possible ? static_cast<double>(added.cost.n) : gap.cost;
  }
  const Stage there = stays.last_there(last, gap.value);
  if (there == kNobody || there >= last) return gap.cost;
  const std::size_t mark = stays.mark();
  const Nanos before = stays.cost();
  stays.keep(gap.value, {there + 1, last});
  const Nanos saved = before - stays.cost();
  stays.undo(mark);
  return static_cast<double>(std::max(Nanos{}, saved).n);
}

Stays Relaxation::solve(Nanos known) {
  std::ranges::fill(price_, 0.0);
  std::ranges::fill(best_price_, 0.0);
  std::ranges::fill(direction_, 0.0);
  for (Gap& gap : gaps_) gap.away = 0;
  const auto hoped = static_cast<double>(known.n);
  double best = 0, pace = kPace;
  int in_vain = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double bound = weigh(std::max(kNewest, 1.0 / (round + 1)));
    if (bound > best) {
      best = bound;
      best_price_ = price_;
      in_vain = 0;
    } else if (++in_vain > kMostInVain) {
      pace *= kShorter;
      in_vain = 0;
    }
    move_prices(pace * std::max(hoped - best, hoped / 1000));
  }
  return rounded();
}

// What would go at these prices, and what lacks then. Returns the least cost that they prove.
double Relaxation::weigh(double share) {
  for (std::size_t stage = 1; stage < price_.size(); ++stage)
    before_[stage] = before_[stage - 1] + price_[stage - 1];
  std::ranges::fill(change_, 0.0);
  double bound = 0;
  for (Gap& gap : gaps_) {
    const auto [first, last] = gap.span;
    const double gain = gap.bytes * (before_[last] - before_[first]) - gap.cost;
    gap.away += share * ((gain > 0 ? 1 : 0) - gap.away);
    if (gain <= 0) continue;
    bound -= gain;
    change_[first] += gap.bytes;
    change_[last] -= gap.bytes;
  }
  double away = 0;
  for (Stage stage = problem_.start.first; stage <= problem_.end(); ++stage) {
    away += change_[stage];
    bound += price_[stage] * lack_[stage];
    direction_[stage] += share * (lack_[stage] - away - direction_[stage]);
  }
  return bound;
}

// From the best ones so far that the bound would grow by that much if it were straight.
void Relaxation::move_prices(double growth) {
  const auto moves = [&](std::size_t stage) {
    return best_price_[stage] > 0 || direction_[stage] > 0;
  };
  double norm = 0;
  for (std::size_t stage = 0; stage < price_.size(); ++stage)
    if (moves(stage)) norm += direction_[stage] * direction_[stage];
  if (norm == 0) return;
  for (std::size_t stage = 0; stage < price_.size(); ++stage)
    if (moves(stage))
      price_[stage] = std::max(0.0, best_price_[stage] + growth / norm * direction_[stage]);
    else
      price_[stage] = 0;
}

Stays Relaxation::rounded() const {
  std::vector<const Gap*> away;
  for (const Gap& gap : gaps_)
    if (gap.away > kAway) away.push_back(&gap);
  std::ranges::stable_sort(away, std::ranges::greater{}, &Gap::away);
  Stays stays{problem_};
  for (const Gap* gap : away) {
    const std::size_t mark = stays.mark();
    stays.drop(gap->value, gap->span);
    if (!stays.sound()) stays.undo(mark);
  }
  return stays;
}

}  // namespace weir::plan
