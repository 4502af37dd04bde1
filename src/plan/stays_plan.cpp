#include "plan/stays.h"

#include <algorithm>
#include <utility>

namespace weir::plan {

Retention Stays::retention() const {
  Retention retention{*problem_};
  for (std::uint32_t i = 0; i < spans_.size(); ++i) {
    if (at_start_[i] && !keeps(problem_->start.first, ValueId{i}))
      retention.drop(problem_->start.first, ValueId{i});
    for (const Span& span : spans_[i])
      for (Stage stage = span.first; stage <= span.last; ++stage) retention.keep(stage, ValueId{i});
  }
  return retention;
}

// Carries the stages out, one by one.
class StaysEmitter {
 public:
  explicit StaysEmitter(const Stays& stays)
      : stays_{stays},
        problem_{stays.problem()},
        now_(problem_.storages.size(), kNoValue),
        ends_(problem_.end() + 1),
        constants_(problem_.end() + 1),
        last_need_(problem_.values.size()) {}

  Plan emit(Bytes budget) && {
    plan_.schedule = {
        .ops = problem_.signatures, .budget = budget, .first = problem_.start.first, .moves = {}};
    plan_.stage_peaks.resize(problem_.end() + 1);
    plan_.cost = stays_.cost_;
    stage_ = problem_.start.first;
    begin();
    for (; stage_ <= problem_.end(); ++stage_) run_stage();
    return std::move(plan_);
  }

 private:
  void begin() {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      const Value& value = problem_.values[i];
      if (stays_.at_start_[i]) put(ValueId{i});
      if (value.maker == kNobody && value.appears >= stage_ && value.appears < constants_.size())
        constants_[value.appears].push_back(ValueId{i});
      for (const Span& span : stays_.spans_[i]) ends_[span.last].push_back(ValueId{i});
    }
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (stays_.at_start_[i] && !stays_.keeps(stage_, ValueId{i})) evict(ValueId{i});
  }

  void run_stage() {
    std::vector<std::uint32_t> runs = stays_.reruns_[stage_];
    if (stage_ < problem_.end()) runs.push_back(stage_);
    for (std::uint32_t op : runs)  // what was needed in an earlier stage has an older number
      for (ValueId input : problem_.ops[op].inputs) last_need_[index(input)] = need_of(op);
    for (ValueId value : ends_[stage_])
      if (!needed_after_start(value) && !problem_[value].held_in(stage_)) evict(value);
    for (ValueId value : constants_[stage_]) put(value);
    for (std::uint32_t op : runs) run(op);
    if (stage_ == problem_.end()) return;
    for (ValueId value : ends_[stage_]) evict(value);
    for (ValueId value : stays_.held_from_[stage_])
      if (!keeps_beyond(value)) evict(value);
    for (ValueId value : constants_[stage_])
      if (!keeps_beyond(value)) evict(value);
  }

  // Grows with stage and op.
  [[nodiscard]] std::uint64_t need_of(std::uint32_t op) const {
    return (std::uint64_t{stage_} + 1) * (problem_.ops.size() + 1) + op;
  }
  [[nodiscard]] bool needed_after_start(ValueId value) const {
    return last_need_[index(value)] >= need_of(0);
  }
  [[nodiscard]] bool keeps_beyond(ValueId value) const {
    return stage_ < problem_.end() && stays_.keeps(stage_ + 1, value);
  }
  [[nodiscard]] bool wanted_after(std::uint32_t op, ValueId value) const {
    return last_need_[index(value)] > need_of(op) || keeps_beyond(value) ||
           problem_[value].held_in(stage_);
  }

  void run(std::uint32_t number) {
    const ProblemOp& op = problem_.ops[number];
    Bytes made = op.scratch;
    for (ValueId output : op.outputs)
      if (problem_[output].change_of == kNoValue) made += problem_[output].size;
    note_peak(used_ + made, number);
    plan_.schedule.moves.push_back({Move::Compute, number});
    for (ValueId output : op.outputs) adopt(output, number);
    for (ValueId output : op.outputs)
      if (!wanted_after(number, output)) evict(output);
    for (ValueId input : op.inputs)
      if (!wanted_after(number, input)) evict(input);
  }

  void adopt(ValueId id, std::uint32_t op) {
    const Value& value = problem_[id];
    ValueId& now = now_[index(value.storage)];
    if (value.change_of != kNoValue) {
      now = id;
      return;
    }
    if (op == stage_ || (now == kNoValue && stage_ <= value.last_remake)) put(id);
  }

  void put(ValueId id) {
    const Value& value = problem_[id];
    if (value.view_of != kNoValue) return;
    if (now_[index(value.storage)] == kNoValue) used_ += value.size;
    now_[index(value.storage)] = id;
    note_peak(used_, stage_);
  }

  // Only if the storage has this value's bytes.
  void evict(ValueId id) {
    const Value& value = problem_[id];
    ValueId& now = now_[index(value.storage)];
    if (now != id) return;
    plan_.schedule.moves.push_back({Move::Evict, index(value.storage)});
    used_ -= value.size;
    now = kNoValue;
  }

  void note_peak(Bytes bytes, std::uint32_t op) {
    Bytes& here = plan_.stage_peaks[stage_];
    here = std::max(here, bytes);
    if (bytes <= plan_.peak) return;
    plan_.peak = bytes;
    plan_.peak_op = op;
  }

  const Stays& stays_;
  const Problem& problem_;
  std::vector<ValueId> now_;                            // by storage: the version that is there
  std::vector<std::vector<ValueId>> ends_, constants_;  // by stage
  std::vector<std::uint64_t> last_need_;                // by value
  Bytes used_;
  Stage stage_ = 0;
  Plan plan_;
};

Plan Stays::plan(Bytes budget) const { return StaysEmitter{*this}.emit(budget); }

}  // namespace weir::plan
