#include "plan/stays.h"

#include <algorithm>
#include <utility>

#include "plan/answer.h"
#include "plan/checkpoints.h"

namespace weir::plan {
namespace {

constexpr Stage kNoStage = kNobody;
constexpr std::int64_t kWorkOfAChange = 200;

Stage last_possible(const Problem& problem, const Value& value) {
  return std::min(problem.end(), value.end());
}

bool must_stay(const Problem& problem, const Value& value, Stage stage) {
  if (!value.held_in(stage)) return false;
  if (stage <= problem.start.first) return value.appears < stage || value.maker == kNobody;
  return value.held_in(stage - 1) || stage > value.last_remake || value.maker == kNobody;
}

}  // namespace

Stays::Stays(const Problem& problem)
    : problem_{&problem},
      spans_(problem.values.size()),
      hulls_(problem.values.size()),
      views_(problem.values.size()),
      begins_(problem.end() + 2),
      held_from_(problem.end() + 2),
      reruns_(problem.end() + 1),
      rerun_stages_(problem.ops.size()),
      there_(problem.end() + 2),
      above_(problem.end() + 2),
      stage_cost_(problem.end() + 1),
      stage_lacks_(problem.end() + 1),
      at_start_(problem.values.size()),
      stage_version_(problem.end() + 1),
      value_version_(problem.values.size()),
      cost_{cost_without_budget(problem)},
      copies_(problem.values.size()),
      is_dirty_(problem.end() + 1),
      seen_(problem.ops.size()),
      need_stamp_(problem.values.size()),
      last_need_(problem.values.size()) {
  const Stage first = problem.start.first;
  for (ValueId value : problem.start.resident) at_start_[index(value)] = true;
  for (std::uint32_t i = 0; i < problem.values.size(); ++i) {
    const Value& value = problem.values[i];
    if (value.appears < first && value.held_in(first)) at_start_[i] = true;
    if (value.view_of != kNoValue) views_[index(value.view_of)].push_back(ValueId{i});
    if (value.end_held > 0) held_from_[value.first_held].push_back(ValueId{i});
    replace(ValueId{i}, all_of(ValueId{i}), {}, {first, problem.end()});
  }
  note_repeats();
  for (Stage stage = first; stage <= problem.end(); ++stage) touch(stage);
  refresh();
  keep_what_lacks();
  journal_.clear();
}

// Made for something that is gone at the start, and unable to be made again, it has to stay.
void Stays::keep_what_lacks() {
  for (Stage stage = problem_->start.first; stage <= problem_->end() && unsound_ > 0; ++stage) {
    if (!stage_lacks_[stage]) continue;
    find_runs(stage, kNoValue);
    for (ValueId value : std::vector<ValueId>{lacking_}) {
      const Stage there = last_there(stage, value);
      if (there != kNoStage && stage <= last_possible(*problem_, (*problem_)[value]))
        keep(value, {there + 1, stage});
    }
  }
}

std::vector<Span> Stays::all_of(ValueId id) const {
  const Value& value = (*problem_)[id];
  const Stage start = problem_->start.first;
  const Stage last = std::min(last_read(*problem_, id), last_possible(*problem_, value));
  Stage first = value.maker == kNobody ? value.appears : value.appears + 1;
  if (value.appears < start) {
    first = start;
    if (!at_start_[index(id)]) {  // made again where it is read first
      const auto user = std::ranges::lower_bound(value.users, start);
      first = user == value.users.end() ? kNoStage : *user + 1;
      if (value.last_remake >= start) first = std::min(first, value.last_remake + 1);
    }
  }
  if (first > last) return {};
  return {{first, last}};
}

bool Stays::begins_by_itself(Stage first, ValueId id) const {
  const Value& value = (*problem_)[id];
  if (comes_back(first, id)) return true;
  if (first == problem_->start.first && at_start_[index(id)]) return true;
  if (value.appears < problem_->start.first) return false;
  return first == (value.maker == kNobody ? value.appears : value.appears + 1);
}

bool Stays::keeps(Stage stage, ValueId value) const {
  if (!covers(spans_[index(value)], stage)) return false;
  const ValueId bytes = (*problem_)[value].view_of;
  return bytes == kNoValue || covers(spans_[index(bytes)], stage);
}

Stage Stays::next_rerun(std::uint32_t op, Stage after) const {
  const std::vector<Stage>& stages = rerun_stages_[op];
  const auto next = std::ranges::upper_bound(stages, after);
  return next == stages.end() ? kNoStage : *next;
}

Stage Stays::last_there(Stage before, ValueId id) const {
  const Value& value = (*problem_)[id];
  std::int64_t last = at_start_[index(id)] ? std::int64_t{problem_->start.first} - 1 : -1;
  const auto note = [&](std::int64_t stage) { last = std::max(last, stage); };
  if (value.appears >= problem_->start.first && value.appears < before) note(value.appears);
  for (const Span& span : spans_[index(id)])
    if (span.first < before) note(std::min(span.last, before - 1));
  if (value.maker != kNobody) {
    const std::vector<Stage>& stages = rerun_stages_[value.maker];
    const auto next = std::ranges::lower_bound(stages, before);
    if (next != stages.begin() && *(next - 1) <= value.last_remake) note(*(next - 1));
  }
  return last < 0 ? kNoStage : static_cast<Stage>(last);
}

Stage Stays::next_use(Stage from, ValueId id) const {
  const Value& value = (*problem_)[id];
  const auto user = std::ranges::lower_bound(value.users, from);
  Stage next = user != value.users.end() ? *user : kNoStage;
  for (auto earlier = value.users.begin(); earlier != user; ++earlier)
    if (from > 0) next = std::min(next, next_rerun(*earlier, from - 1));
  return next;
}

Stage Stays::next_read(Stage from, ValueId id) const {
  const Value& value = (*problem_)[id];
  const Stage next = next_use(from, id);
  return value.end_held > from ? std::min(next, std::max(from, value.first_held)) : next;
}

Stage Stays::previous_use(Stage before, ValueId id) const {
  Stage previous = 0;
  for (std::uint32_t user : (*problem_)[id].users) {
    if (user >= before) break;
    previous = std::max(previous, user);
    const std::vector<Stage>& stages = rerun_stages_[user];
    const auto next = std::ranges::lower_bound(stages, before);
    if (next != stages.begin()) previous = std::max(previous, *(next - 1));
  }
  return previous;
}

Stage Stays::previous_read(Stage before, ValueId id) const {
  const Value& value = (*problem_)[id];
  const Stage previous = previous_use(before, id);
  const bool was_held = value.first_held < value.end_held && value.first_held < before;
  return was_held ? std::max(previous, std::min(before, value.end_held) - 1) : previous;
}

std::optional<Span> Stays::gap_at(Stage stage, ValueId id) const {
  const Value& value = (*problem_)[id];
  if (value.maker == kNobody || value.view_of != kNoValue || must_stay(*problem_, value, stage))
    return std::nullopt;
  for (const Span& span : spans_[index(id)]) {
    if (stage < span.first || stage > span.last) continue;
    const Stage last = std::min(span.last, next_read(stage, id));
    const Stage first = std::max(span.first, previous_read(stage, id) + 1);
    if (goes_away(last + 1, id)) return std::nullopt;  // its copy is made meanwhile
    return Span{first, last};
  }
  return std::nullopt;
}

void Stays::drop(ValueId value, Span span) {
  std::vector<Span> spans = without(spans_[index(value)], span);
  Copy copy = possible(value, copies_[index(value)], spans);
  replace(value, std::move(spans), std::move(copy), span);
  for (ValueId view : views_[index(value)])
    replace(view, without(spans_[index(view)], span), {}, span);
  refresh();
  match_ends(value);
}

void Stays::keep(ValueId value, Span span) {
  std::vector<Span> spans = with(spans_[index(value)], span);
  Copy copy = copies_[index(value)];
  copy.away = without(copy.away, span);
  copy = possible(value, std::move(copy), spans);
  replace(value, std::move(spans), std::move(copy), span);
  refresh();
  match_ends(value);
}

void Stays::undo(std::size_t mark) {
  while (journal_.size() > mark) {
    Change change = std::move(journal_.back());
    journal_.pop_back();
    replace(change.value, std::move(change.before), std::move(change.copy), change.span);
    journal_.pop_back();
  }
  refresh();
}

void Stays::replace(ValueId value, std::vector<Span> spans, Copy copy, Span changed) {
  work_ += kWorkOfAChange;
  std::vector<Span>& now = spans_[index(value)];
  count(value, now, -1);
  std::swap(copies_[index(value)], copy);
  list_copied(value, !copies_[index(value)].away.empty());
  count(value, spans, 1);
  std::swap(now, spans);
  hulls_[index(value)] = now.empty() ? Span{1, 0} : Span{now.front().first, now.back().last};
  journal_.push_back({value, changed, std::move(spans), std::move(copy)});
  value_version_[index(value)] = ++clock_;
  touch(value, changed);
  if (journal_.back().copy == copies_[index(value)]) return;
  touch(value, journal_.back().copy);
  touch(value, copies_[index(value)]);
}

void Stays::count(ValueId value, const std::vector<Span>& spans, std::int64_t sign) {
  const std::int64_t bytes = sign * (*problem_)[value].size.n;
  for (const Span& span : spans) {
    for (Stage stage = span.first; stage <= span.last; ++stage) there_[stage] += bytes;
    work_ += (span.last - span.first) / 2;
    if (begins_by_itself(span.first, value)) continue;
    if (sign > 0)
      begins_[span.first].push_back(value);
    else
      std::erase(begins_[span.first], value);
  }
}

void Stays::touch(Stage stage) {
  if (stage < problem_->start.first || stage > problem_->end() || is_dirty_[stage]) return;
  is_dirty_[stage] = true;
  dirty_.push_back(stage);
}

// Those that read or make the value, and where its being there begins and ends.
void Stays::touch(ValueId id, Span changed) {
  const Value& value = (*problem_)[id];
  const Stage first = changed.first == 0 ? 0 : changed.first - 1;
  const auto touch_runs = [&](std::uint32_t op) {
    if (op >= first && op <= changed.last) touch(op);
    const std::vector<Stage>& stages = rerun_stages_[op];
    for (auto at = std::ranges::lower_bound(stages, first);
         at != stages.end() && *at <= changed.last; ++at)
      touch(*at);
  };
  touch(first);
  touch(changed.last);
  if (value.end_held > 0) touch(value.first_held);
  if (value.maker != kNobody) touch_runs(value.maker);
  for (std::uint32_t user : value.users) touch_runs(user);
}

void Stays::touch(ValueId value, const Copy& copy) {
  for (const Span& away : copy.away) {
    touch(value, away);
    touch(away.last + 1);
  }
}

void Stays::refresh() {
  stale_ = problem_->tier.has_value();
  for (Stage stage : std::exchange(dirty_, {})) {
    is_dirty_[stage] = false;
    evaluate(stage);
  }
}

}  // namespace weir::plan
