// What of stays is in the tier meanwhile.
#include <algorithm>
#include <utility>

#include "plan/stays.h"

namespace weir::plan {

const Traffic& Stays::traffic() const {
  if (std::exchange(stale_, false)) traffic_.recount(*this);
  return traffic_;
}

std::optional<Span> Stays::away_at(Stage stage, ValueId value) const {
  for (const Span& away : copies_[index(value)].away)
    if (away.first <= stage && stage <= away.last) return away;
  return std::nullopt;
}

bool Stays::comes_back(Stage stage, ValueId value) const {
  return std::ranges::any_of(copies_[index(value)].away,
                             [&](const Span& away) { return away.last + 1 == stage; });
}

bool Stays::goes_away(Stage stage, ValueId value) const {
  return std::ranges::any_of(copies_[index(value)].away,
                             [&](const Span& away) { return away.first == stage; });
}

bool Stays::begins_away(ValueId value) const {
  const Copy& copy = copies_[index(value)];
  return copy.offload == kNobody && !copy.away.empty();
}

Stays::Ends Stays::ends_of(ValueId value) const {
  if (partner_.empty() || partner_[index(value)] == kNoValue) return {};
  const ValueId other = partner_[index(value)];
  return (*problem_)[value].maker == kNobody ? Ends{value, other} : Ends{other, value};
}

// Constants at first, that are held, in whatever version, when the step ends.
void Stays::note_repeats() {
  if (!problem_->tier || !problem_->repeats || problem_->start.first != 0) return;
  partner_.assign(problem_->values.size(), kNoValue);
  std::vector<ValueId> first(problem_->storages.size(), kNoValue), last = first;
  for (std::uint32_t i = 0; i < problem_->values.size(); ++i) {
    const Value& value = problem_->values[i];
    if (value.view_of != kNoValue) continue;
    if (value.maker == kNobody && value.appears == 0) first[index(value.storage)] = ValueId{i};
    if (value.held_in(problem_->end())) last[index(value.storage)] = ValueId{i};
  }
  for (StorageId storage : *problem_->repeats) {
    const ValueId begin = first[index(storage)], end = last[index(storage)];
    if (begin == kNoValue || end == kNoValue) continue;
    partner_[index(begin)] = end;
    partner_[index(end)] = begin;
  }
}

// On its own: where a storage has to end as it begins, both are one decision.
bool Stays::may_end_away(ValueId value) const {
  return !problem_->repeats || (ends_of(value).last == value && begins_away(value));
}

std::optional<Stays::CopyGap> Stays::end_gap(ValueId value) const {
  const std::vector<Span>& spans = spans_[index(value)];
  if (spans.empty() || spans.back().last != problem_->end()) return std::nullopt;
  const Stage used = std::max(spans.back().first, previous_use(problem_->end(), value));
  if (used >= problem_->end()) return std::nullopt;
  return CopyGap{used + 1, problem_->end() + 1, false};
}

std::optional<Stays::CopyGap> Stays::copy_gap_at(Stage stage, ValueId id) const {
  const Value& value = (*problem_)[id];
  const Stage next = next_use(stage, id);
  if (next == stage || value.view_of != kNoValue) return std::nullopt;
  for (ValueId view : views_[index(id)])
    if ((*problem_)[view].end_held > 0) return std::nullopt;
  for (const Span& span : spans_[index(id)]) {
    if (stage < span.first || stage > span.last) continue;
    const Stage first = std::max(span.first, previous_use(stage, id)) + 1;
    if (first > stage) return std::nullopt;
    if (next <= span.last) return CopyGap{first, next, true};
    if (!value.held_in(span.last) && !goes_away(span.last + 1, id)) return std::nullopt;
    if (span.last == problem_->end() && !may_end_away(id)) return std::nullopt;
    return CopyGap{first, span.last + 1, false};
  }
  return std::nullopt;
}

void Stays::list_copied(ValueId value, bool yes) {
  const auto place = std::ranges::lower_bound(copied_, value);
  const bool listed = place != copied_.end() && *place == value;
  if (listed == yes) return;
  if (yes)
    copied_.insert(place, value);
  else
    copied_.erase(place);
}

Copy Stays::possible(ValueId value, Copy copy, const std::vector<Span>& spans) const {
  const auto span_of = [&](Stage stage) -> const Span* {
    const auto found = std::ranges::find_if(
        spans, [&](const Span& span) { return span.first <= stage && stage <= span.last; });
    return found == spans.end() ? nullptr : &*found;
  };
  const Value& whose = (*problem_)[value];
  std::vector<Span> all = std::exchange(copy.away, {});
  const Span* before = nullptr;  // where it is there before the first goes
  for (const Span& away : all) {
    const bool at_start = away.first == problem_->start.first;
    const Span* there = at_start ? nullptr : span_of(away.first - 1);
    if (!at_start && there == nullptr) break;
    if (!copy.away.empty() && there->first != copy.away.back().last + 1) break;
    const bool released = whose.held_in(away.last) && !whose.held_in(away.last + 1);
    if (!released && span_of(away.last + 1) == nullptr) break;
    if (copy.away.empty()) before = there;
    copy.away.push_back(away);
  }
  if (copy.away.empty()) return {};
  if (before == nullptr) {
    copy.offload = kNobody;
    return copy;
  }
  const Stage from = before->first + (whose.maker == kNobody && whose.appears == before->first);
  const Stage by = copy.away.front().first;
  copy.offload = copy.offload == kNobody ? by : std::clamp(copy.offload, std::min(from, by), by);
  return copy;
}

void Stays::put_away(ValueId value, Span away, Stage offload) {
  std::vector<Span> spans = without(spans_[index(value)], away);
  Copy copy = copies_[index(value)];
  const bool written = !copy.away.empty() && copy.away.front().first < away.first;
  if (!written) copy.offload = offload;
  copy.order = ++next_order_;
  copy.away = with(copy.away, away);
  copy = possible(value, std::move(copy), spans);
  replace(value, std::move(spans), std::move(copy), away);
  drop_views(value, away);
  refresh();
}

// They are made again where they are read.
void Stays::drop_views(ValueId value, Span away) {
  for (ValueId view : views_[index(value)]) {
    const Stage next = std::min(next_use(away.last + 1, view), problem_->end());
    const Span gone{away.first, std::max(away.last, next)};
    replace(view, without(spans_[index(view)], gone), {}, gone);
  }
}

// A storage that does not end in the tier does not begin there, and the other way round.
void Stays::match_ends(ValueId value) {
  const auto [first, last] = ends_of(value);
  if (first == last) return;
  const std::optional<Span> at_begin = away_at(problem_->start.first, first);
  const std::optional<Span> at_end = away_at(problem_->end(), last);
  if (at_begin.has_value() == at_end.has_value()) return;
  if (at_begin)
    keep(first, *at_begin);
  else
    keep(last, *at_end);
}

}  // namespace weir::plan
