// What runs in one stage, and the bytes it takes.
#include <algorithm>
#include <utility>

#include "plan/stays.h"

namespace weir::plan {
namespace {

constexpr std::int64_t kWorkOfARead = 12;

}  // namespace

void Stays::evaluate(Stage stage) {
  find_runs(stage, kNoValue);
  const Walked walked = walk(stage, kNoValue);
  above_[stage] = walked.above;
  cost_ += walked.cost - stage_cost_[stage];
  stage_cost_[stage] = walked.cost;
  unsound_ -= stage_lacks_[stage] ? 1u : 0u;
  stage_lacks_[stage] = !lacking_.empty();
  unsound_ += stage_lacks_[stage] ? 1u : 0u;
  if (!runs_.empty() && runs_.back() == stage) runs_.pop_back();
  if (runs_ == reruns_[stage]) return;
  for (std::uint32_t op : reruns_[stage]) std::erase(rerun_stages_[op], stage);
  for (std::uint32_t op : runs_)
    rerun_stages_[op].insert(std::ranges::lower_bound(rerun_stages_[op], stage), stage);
  reruns_[stage] = runs_;
  stage_version_[stage] = ++clock_;
}

bool Stays::there(Stage stage, ValueId value, ValueId away) const {
  if (away != kNoValue && (value == away || (*problem_)[value].view_of == away)) return false;
  return keeps(stage, value);
}

bool Stays::is_held(Stage stage, ValueId value) const {
  return (*problem_)[value].held_in(stage) && !away_at(stage, value);
}

// Of what is there in the stage: when it ends.
bool Stays::stays_after(Stage stage, ValueId value) const {
  if (is_held(stage, value)) return true;
  if (stage == problem_->end()) return false;
  if (copies_[index(value)].away.empty()) return keeps(stage + 1, value);
  return goes_away(stage + 1, value) || (keeps(stage + 1, value) && !comes_back(stage + 1, value));
}

void Stays::find_runs(Stage stage, ValueId away) {
  ++search_;
  runs_.clear();
  asked_.clear();
  lacking_.clear();
  pending_.clear();
  if (stage < problem_->end()) {
    runs_.push_back(stage);
    pending_.push_back(stage);
    seen_[stage] = search_;
  }
  for (ValueId value : held_from_[stage])
    if ((*problem_)[value].appears != stage && !away_at(stage, value)) provide(stage, value, away);
  for (ValueId value : begins_[stage + 1])
    if (keeps(stage + 1, value)) provide(stage, value, away);
  if (away != kNoValue && stage < problem_->end()) {
    if (keeps(stage + 1, away)) provide(stage, away, away);
    for (ValueId view : views_[index(away)])
      if (keeps(stage + 1, view)) provide(stage, view, away);
  }
  while (!pending_.empty()) {
    const std::uint32_t op = pending_.back();
    pending_.pop_back();
    for (ValueId input : problem_->ops[op].inputs) provide(stage, input, away);
  }
  std::ranges::sort(runs_);
  work_ += kWorkOfARead * static_cast<std::int64_t>(asked_.size() + runs_.size());
}

// What is in the tier is not made again but comes back earlier.
bool Stays::can_make(Stage stage, ValueId id) const {
  const Value& value = (*problem_)[id];
  return value.maker != kNobody && value.appears <= stage && stage <= value.last_remake &&
         !away_at(stage, id);
}

void Stays::provide(Stage stage, ValueId id, ValueId away) {
  const Value& value = (*problem_)[id];
  asked_.push_back(id);
  if (there(stage, id, away) || value.appears == stage) return;
  if (!can_make(stage, id)) {
    if (std::ranges::find(lacking_, id) == lacking_.end()) lacking_.push_back(id);
    return;
  }
  if (std::exchange(seen_[value.maker], search_) == search_) return;
  runs_.push_back(value.maker);
  pending_.push_back(value.maker);
}

void Stays::note_needs() {
  for (std::uint32_t i = 0; i < runs_.size(); ++i)
    for (ValueId input : problem_->ops[runs_[i]].inputs) {
      need_stamp_[index(input)] = search_;
      last_need_[index(input)] = i;
    }
}

bool Stays::needed_after(std::uint32_t position, ValueId value) const {
  return need_stamp_[index(value)] == search_ && last_need_[index(value)] > position;
}

Stays::Walked Stays::walk(Stage stage, ValueId away) {
  note_needs();
  Walked walked;
  std::int64_t used = 0;
  for (std::uint32_t i = 0; i < runs_.size(); ++i) {
    const ProblemOp& op = problem_->ops[runs_[i]];
    if (runs_[i] != stage) walked.cost += op.cost;
    std::int64_t made = op.scratch.n, left = 0;
    ValueId changed = kNoValue;
    for (ValueId output : op.outputs) {
      const Value& value = (*problem_)[output];
      const bool wanted = needed_after(i, output) || stays_after(stage, output);
      if (value.change_of != kNoValue) {
        changed = value.change_of;
        left -= wanted ? 0 : value.size.n;
        continue;
      }
      made += value.size.n;
      if (wanted && !there(stage, output, away)) left += value.size.n;
    }
    walked.above = std::max(walked.above, used + made);
    used += left;
    for (ValueId input : op.inputs)
      if (input != changed && !needed_after(i, input) && !stays_after(stage, input))
        used -= (*problem_)[input].size.n;
  }
  return walked;
}

// Calls for what is read of the value and its views in a stage, or is there in the next.
void Stays::ask_readers(Stage stage, ValueId away, const auto& ask) {
  const auto is_away = [&](ValueId id) { return id == away || (*problem_)[id].view_of == away; };
  for (std::uint32_t user : (*problem_)[away].users) {
    if (user > stage) break;
    if (user != stage && !std::ranges::binary_search(reruns_[stage], user)) continue;
    for (ValueId input : problem_->ops[user].inputs)
      if (is_away(input)) ask(input);
  }
  for (ValueId value : held_from_[stage])
    if (is_away(value) && (*problem_)[value].appears != stage && !away_at(stage, value)) ask(value);
  if (stage == problem_->end()) return;
  if (keeps(stage + 1, away)) ask(away);
  for (ValueId view : views_[index(away)])
    if (keeps(stage + 1, view)) ask(view);
}

Stays::Added Stays::added_by_drop(ValueId value, Span gap, Nanos most) {
  const Stage stage = gap.last;
  ++search_;
  pending_.clear();
  Added added{.possible = true, .cost = {}};
  const auto ask = [&](ValueId id) {
    const Value& asked = (*problem_)[id];
    added.depends_on.push_back(id);
    if (there(stage, id, value) || asked.appears == stage) return;
    if (!can_make(stage, id)) {
      added.possible = added.possible && id != value;
      return;
    }
    if (std::exchange(seen_[asked.maker], search_) == search_) return;
    if (std::ranges::binary_search(reruns_[stage], asked.maker)) return;
    added.ops.push_back(asked.maker);
    added.cost += problem_->ops[asked.maker].cost;
    pending_.push_back(asked.maker);
  };
  ask_readers(stage, value, ask);
  while (!pending_.empty() && added.cost <= most) {
    const std::uint32_t op = pending_.back();
    pending_.pop_back();
    for (ValueId input : problem_->ops[op].inputs) ask(input);
  }
  work_ += kWorkOfARead * static_cast<std::int64_t>(added.depends_on.size() + added.ops.size() + 2);
  return added;
}

Stays::Effect Stays::effect_of_drop(ValueId value, Span gap) {
  const Stage stage = gap.last;
  find_runs(stage, value);
  const Walked walked = walk(stage, value);
  return {.peak = {there_[stage] - (*problem_)[value].size.n + walked.above}, .lacking = lacking_};
}

}  // namespace weir::plan
