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
  std::ranges::stable_sort(found, std::ranges::greater{}, &Remake::cost);
  return found;
}

bool Search::better_without(const Remake& remake) {
  const std::size_t mark = stays_.mark();
  const Nanos before = stays_.cost();
  if (!keep_until(remake)) return false;
  spared_[index(remake.value)] = true;
  const bool better = stays_.cost() < before && fit(taste_, before);
  spared_[index(remake.value)] = false;
  if (!better) stays_.undo(mark);
  return better;
}

// It stays from where it was there last; false if it cannot, or does already.
bool Search::keep_until(const Remake& remake) {
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
  std::vector<ValueId> kept;
  for (Stage stage : stages) {
    const std::vector<std::uint32_t> runs{stays_.reruns(stage).begin(), stays_.reruns(stage).end()};
    for (std::uint32_t op : runs)
      for (ValueId output : problem_.ops[op].outputs)
        if (rng_.chance(3, 4) && keep_until({output, stage, {}})) kept.push_back(output);
  }
  if (kept.empty()) return false;
  const bool spare = rng_.chance(1, 2);
  for (ValueId value : kept) spared_[index(value)] = spare && rng_.chance(1, 2);
  const bool fits = fit(taste, before + Nanos{1});
  for (ValueId value : kept) spared_[index(value)] = false;
  if (!fits) stays_.undo(mark);
  return stays_.cost() < before;
}

// Up to eight in a row of those that make something again.
std::vector<Stage> Search::chosen_stages() {
  work_ += problem_.end();
  std::vector<Stage> stages;
  for (Stage stage = problem_.start.first; stage <= problem_.end(); ++stage)
    if (!stays_.reruns(stage).empty()) stages.push_back(stage);
  if (stages.empty()) return stages;
  const std::size_t first = rng_.below(stages.size());
  const std::size_t count = std::min(stages.size() - first, std::size_t{1} << rng_.below(4));
  return {stages.begin() + static_cast<std::ptrdiff_t>(first),
          stages.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

}  // namespace weir::plan
