#include "plan/plan_writer.h"

#include <algorithm>
#include <utility>

namespace weir::plan {

Plan PlanWriter::write(Bytes budget) && {
  plan_.schedule = {
      .ops = problem_.signatures, .budget = budget, .first = problem_.start.first, .moves = {}};
  plan_.stage_peaks.resize(problem_.end() + 1);
  stage_ = problem_.start.first;
  begin();
  for (; stage_ <= problem_.end(); ++stage_) run_stage();
  finish();
  return std::move(plan_);
}

void PlanWriter::compute(std::uint32_t number) {
  const ProblemOp& op = problem_.ops[number];
  Bytes made = op.scratch;
  for (ValueId output : op.outputs)
    if (problem_[output].change_of == kNoValue) made += problem_[output].size;
  note_peak(used_ + made, number);
  plan_.schedule.moves.push_back({Move::Compute, number});
  plan_.cost += op.cost;
  for (ValueId output : op.outputs) adopt(output, number);
}

void PlanWriter::adopt(ValueId id, std::uint32_t op) {
  const Value& value = problem_[id];
  ValueId& now = now_[index(value.storage)];
  if (value.change_of != kNoValue) {
    now = id;
    changed(value.storage);
  } else if (op == stage_ || (now == kNoValue && stage_ <= value.last_remake)) {
    put(id, op);
  }
}

void PlanWriter::put(ValueId id, std::uint32_t op) {
  const Value& value = problem_[id];
  if (value.view_of != kNoValue) return;
  if (now_[index(value.storage)] == kNoValue) {
    used_ += value.size;
    came(value.storage);
  }
  now_[index(value.storage)] = id;
  note_peak(used_, op);
}

void PlanWriter::evict(StorageId storage) {
  ValueId& now = now_[index(storage)];
  plan_.schedule.moves.push_back({Move::Evict, index(storage)});
  used_ -= problem_[now].size;
  now = kNoValue;
}

void PlanWriter::note_peak(Bytes bytes, std::uint32_t op) {
  Bytes& here = plan_.stage_peaks[stage_];
  here = std::max(here, bytes);
  if (bytes <= plan_.peak) return;
  plan_.peak = bytes;
  plan_.peak_op = op;
}

}  // namespace weir::plan
