#include "plan/plan_writer.h"
#include "plan/stays.h"

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

// Looks only at what a stage touches.
class StaysEmitter final : public PlanWriter {
 public:
  explicit StaysEmitter(const Stays& stays)
      : PlanWriter{stays.problem()},
        stays_{stays},
        traffic_{stays.traffic()},
        ends_(problem_.end() + 1),
        constants_(problem_.end() + 1),
        last_need_(problem_.values.size()) {}

 private:
  void begin() override {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      const Value& value = problem_.values[i];
      if (stays_.at_start_[i]) put(ValueId{i}, stage_);
      if (stays_.begins_away(ValueId{i}))
        begin_away(ValueId{i});
      else if (value.maker == kNobody && value.appears >= stage_ &&
               value.appears < constants_.size())
        constants_[value.appears].push_back(ValueId{i});
      for (const Span& span : stays_.spans_[i]) ends_[span.last].push_back(ValueId{i});
    }
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (stays_.at_start_[i] && !stays_.keeps(stage_, ValueId{i})) drop(ValueId{i});
  }

  void run_stage() override {
    std::vector<std::uint32_t> runs = stays_.reruns_[stage_];
    if (stage_ < problem_.end()) runs.push_back(stage_);
    for (std::uint32_t op : runs)  // what was needed in an earlier stage has an older number
      for (ValueId input : problem_.ops[op].inputs) last_need_[index(input)] = need_of(op);
    for (ValueId value : ends_[stage_])
      if (!needed_after_start(value) && !stays_on(value)) drop(value);
    for (ValueId value : constants_[stage_]) put(value, stage_);
    carry_out(Move::Prefetch, traffic_.prefetches(), next_prefetch_, stage_);
    for (std::uint32_t op : runs) run(op);
    if (stage_ == problem_.end()) return;
    carry_out(Move::Forget, traffic_.forgets(), next_forget_, stage_ + 1);
    carry_out(Move::Offload, traffic_.offloads(), next_offload_, stage_ + 1);
    for (ValueId value : ends_[stage_]) drop(value);
    for (ValueId value : stays_.held_from_[stage_])
      if (!keeps_beyond(value)) drop(value);
    for (ValueId value : constants_[stage_])
      if (!keeps_beyond(value)) drop(value);
  }

  void finish() override {
    if (stays_.copied().empty()) return;
    plan_.waited = traffic_.waited();
    plan_.cost += plan_.waited;
    plan_.tier_peak = traffic_.tier_peak();
  }

  void begin_away(ValueId value) {
    plan_.schedule.moves.push_back({Move::Evict, index(problem_[value].storage)});
  }

  // Those of the stage's beginning.
  void carry_out(Move move, std::span<const Traffic::Event> events, std::size_t& next,
                 Stage stage) {
    for (; next < events.size() && events[next].stage == stage; ++next) {
      const ValueId value = events[next].value;
      plan_.schedule.moves.push_back({move, index(problem_[value].storage)});
      if (move == Move::Prefetch) put(value, stage_);
    }
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
  [[nodiscard]] bool stays_on(ValueId value) const { return stays_.stays_after(stage_, value); }
  [[nodiscard]] bool wanted_after(std::uint32_t op, ValueId value) const {
    return last_need_[index(value)] > need_of(op) || stays_on(value);
  }

  void run(std::uint32_t op) {
    compute(op);
    for (ValueId output : problem_.ops[op].outputs)
      if (!wanted_after(op, output)) drop(output);
    for (ValueId input : problem_.ops[op].inputs)
      if (!wanted_after(op, input)) drop(input);
  }

  // Only if the storage has this value's bytes.
  void drop(ValueId value) {
    const StorageId storage = problem_[value].storage;
    if (now_[index(storage)] == value) evict(storage);
  }

  const Stays& stays_;
  const Traffic& traffic_;
  std::size_t next_forget_ = 0, next_offload_ = 0, next_prefetch_ = 0;
  std::vector<std::vector<ValueId>> ends_, constants_;  // by stage
  std::vector<std::uint64_t> last_need_;                // by value
};

Plan Stays::plan(Bytes budget) const { return StaysEmitter{*this}.write(budget); }

}  // namespace weir::plan
