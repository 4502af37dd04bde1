// What a search does with stays that fit.
#include <algorithm>

#include "plan/search.h"

namespace weir::plan {

void Search::improve(const Taste& taste) {
  taste_ = taste;
  for (bool better = true; better && work_left() > 0;) {
    better = false;
    for (const Remake& remake : remakes()) {
      if (work_left() <= 0) return;
      if (better_without(remake)) better = true;
    }
  }
}

std::vector<Search::Remake> Search::remakes() const {
  std::vector<Remake> found;
  for (Stage stage = problem_.start.first; stage <= problem_.end(); ++stage)
    for (std::uint32_t op : stays_.reruns(stage))
      for (ValueId output : problem_.ops[op].outputs)
        if (!stays_.keeps(stage, output)) found.push_back({output, stage, problem_.ops[op].cost});
  if (going_ == Going::OrCopied && stays_.traffic().waited() > Nanos{})
    for (ValueId value : stays_.copied())
      for (const Span& away : stays_.copy(value).away)
        found.push_back({value, away.last, stays_.traffic().waited(), true});
  std::ranges::stable_sort(found, std::ranges::greater{}, &Remake::cost);
  return found;
}

bool Search::better_without(const Remake& remake) {
  const std::size_t mark = stays_.mark();
  const Nanos before = stays_.cost();
  if (!keep_until(remake)) return false;
  spare(remake, true);
  const bool better = stays_.cost() < before && fit(taste_, before);
  spare(remake, false);
  if (!better) stays_.undo(mark);
  return better;
}

// What was made again may go to the tier instead, and the other way round.
void Search::spare(const Remake& remake, bool yes) {
  Spared& spared = spared_[index(remake.value)];
  (remake.copied ? spared.copied : spared.made_again) = yes;
}

// It stays from where it was there last; false if it cannot, or does already.
bool Search::keep_until(const Remake& remake) {
  if (remake.copied) {
    const std::optional<Span> away = stays_.away_at(remake.stage, remake.value);
    if (away) stays_.keep(remake.value, *away);
    return away.has_value();
  }
  const auto reruns = stays_.reruns(remake.stage);
  if (!std::ranges::binary_search(reruns, problem_[remake.value].maker)) return false;
  if (stays_.keeps(remake.stage, remake.value)) return false;
  const Span span = missing_before(remake.stage, remake.value);
  if (!may_keep(remake.value, span)) return false;
  stays_.keep(remake.value, span);
  return true;
}

bool Search::shake(const Taste& taste) {
  const std::vector<Stage> stages = chosen_stages();
  const std::size_t mark = stays_.mark();
  const Nanos before = stays_.cost();
  std::vector<Remake> kept;
  for (Stage stage : stages)
    for (const Remake& remake : brought_in(stage))
      if (rng_.chance(3, 4) && keep_until(remake)) kept.push_back(remake);
  if (kept.empty()) return false;
  const bool some = rng_.chance(1, 2);
  for (const Remake& remake : kept) spare(remake, some && rng_.chance(1, 2));
  const bool fits = fit(taste, before + Nanos{1});
  for (const Remake& remake : kept) spare(remake, false);
  if (!fits) stays_.undo(mark);
  return stays_.cost() < before;
}

// What is made again in a stage, or comes back when it has ended.
std::vector<Search::Remake> Search::brought_in(Stage stage) const {
  std::vector<Remake> found;
  for (std::uint32_t op : stays_.reruns(stage))
    for (ValueId output : problem_.ops[op].outputs) found.push_back({output, stage, {}});
  for (ValueId value : stays_.copied())
    if (const std::optional<Span> away = stays_.away_at(stage, value); away && away->last == stage)
      found.push_back({value, stage, {}, true});
  return found;
}

// Up to eight in a row of those that make something again, or after which something comes back.
std::vector<Stage> Search::chosen_stages() {
  work_ += problem_.end();
  std::vector<Stage> stages;
  std::vector<bool> back(problem_.end() + 1);
  for (ValueId value : stays_.copied())
    for (const Span& away : stays_.copy(value).away) back[away.last] = true;
  for (Stage stage = problem_.start.first; stage <= problem_.end(); ++stage)
    if (!stays_.reruns(stage).empty() || back[stage]) stages.push_back(stage);
  if (stages.empty()) return stages;
  const std::size_t first = rng_.below(stages.size());
  const std::size_t count = std::min(stages.size() - first, std::size_t{1} << rng_.below(4));
  return {stages.begin() + static_cast<std::ptrdiff_t>(first),
          stages.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

}  // namespace weir::plan
