#include "plan/retention.h"

#include <algorithm>

namespace weir::plan {

namespace {

// Could it be there when the stage begins, having come to be before?
bool may_stay(const Problem& problem, const Value& value, Stage stage) {
  return value.appears < stage && stage > problem.start.first && stage <= problem.end() &&
         stage <= value.end();
}

bool must_stay(const Value& value, Stage stage) {
  if (stage == 0 || !value.held_in(stage)) return false;
  return value.held_in(stage - 1) || stage > value.last_remake;
}

}  // namespace

Retention::Retention(const Problem& problem)
    : problem_{&problem}, kept_{problem.end() + 2, problem.values.size()} {
  const Stage first = problem.start.first;
  for (ValueId value : problem.start.resident) kept_.set(first, index(value));
  for (std::uint32_t i = 0; i < problem.values.size(); ++i) {
    const Value& value = problem.values[i];
    if (value.appears < first && value.held_in(first)) kept_.set(first, i);
    for (Stage stage = std::max(first + 1, value.first_held); stage < value.end_held; ++stage)
      if (must_stay(value, stage)) keep(stage, ValueId{i});
  }
}

void Retention::keep(Stage stage, ValueId value) {
  if (may_stay(*problem_, (*problem_)[value], stage)) kept_.set(stage, index(value));
}

void Retention::drop(Stage stage, ValueId id) {
  const Value& value = (*problem_)[id];
  const bool at_start = stage == problem_->start.first;
  if (at_start ? value.held_in(stage) : must_stay(value, stage)) return;
  kept_.set(stage, index(id), false);
}

namespace {

class RunFinder {
 public:
  RunFinder(const Problem& problem, const Retention& retention)
      : problem_{problem}, retention_{retention}, runs_{problem.end() + 1, problem.ops.size()} {}

  std::optional<Runs> find() && {
    for (Stage stage = problem_.start.first; stage <= problem_.end(); ++stage)
      if (!fill(stage)) return std::nullopt;
    return std::move(runs_);
  }

 private:
  bool fill(Stage stage) {
    if (stage < problem_.end()) runs_.set(stage, stage);
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      const bool wanted = problem_.values[i].held_in(stage) || keeps_beyond(stage, ValueId{i});
      if (wanted && !provide(stage, ValueId{i})) return false;
    }
    for (std::uint32_t op = std::min(stage + 1, problem_.end()); op-- > 0;) {
      if (!runs_.at(stage, op)) continue;
      for (ValueId input : problem_.ops[op].inputs)
        if (!provide(stage, input)) return false;
    }
    return true;
  }

  [[nodiscard]] bool keeps_beyond(Stage stage, ValueId value) const {
    return stage < problem_.end() && retention_.keeps(stage + 1, value);
  }

  bool provide(Stage stage, ValueId id) {
    const Value& value = problem_[id];
    if (retention_.keeps(stage, id) || value.appears == stage) return true;
    if (value.maker == kNobody || value.appears > stage || stage > value.last_remake) return false;
    runs_.set(stage, value.maker);
    return true;
  }

  const Problem& problem_;
  const Retention& retention_;
  Runs runs_;
};

// Carries the stages out, one by one.
class Emitter {
 public:
  Emitter(const Problem& problem, const Retention& retention, const Runs& runs)
      : problem_{problem},
        retention_{retention},
        runs_{runs},
        now_(problem.storages.size(), kNoValue),
        last_need_(problem.values.size()) {}

  Plan emit(Bytes budget) && {
    plan_.schedule = {
        .ops = problem_.signatures, .budget = budget, .first = problem_.start.first, .moves = {}};
    plan_.stage_peaks.resize(problem_.end() + 1);
    stage_ = problem_.start.first;
    begin();
    for (; stage_ <= problem_.end(); ++stage_) run_stage();
    return std::move(plan_);
  }

 private:
  void begin() {
    const Retention all{problem_};
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      if (all.keeps(stage_, ValueId{i})) put(ValueId{i}, stage_);
      last_need_[i] = retention_.keeps(stage_, ValueId{i}) ? UINT32_MAX : 0;
    }
    drop_unneeded(0);
  }

  void run_stage() {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].maker == kNobody && problem_.values[i].appears == stage_)
        put(ValueId{i}, stage_);
    find_needs();
    drop_unneeded(0);
    for (std::uint32_t op = 0; op <= stage_ && op < problem_.end(); ++op)
      if (runs_.at(stage_, op)) run(op);
  }

  // Until when in this stage: after which op, counted from 1.
  void find_needs() {
    std::ranges::fill(last_need_, 0);
    for (std::uint32_t op = 0; op <= stage_ && op < problem_.end(); ++op) {
      if (!runs_.at(stage_, op)) continue;
      for (ValueId input : problem_.ops[op].inputs) last_need_[index(input)] = op + 1;
    }
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      if (problem_.values[i].held_in(stage_)) last_need_[i] = stage_ + 1;
      if (stage_ < problem_.end() && retention_.keeps(stage_ + 1, ValueId{i}))
        last_need_[i] = UINT32_MAX;
    }
  }

  void run(std::uint32_t number) {
    const ProblemOp& op = problem_.ops[number];
    Bytes made = op.scratch;
    for (ValueId output : op.outputs)
      if (problem_[output].change_of == kNoValue) made += problem_[output].size;
    note_peak(used_ + made, number);
    plan_.schedule.moves.push_back({Move::Compute, number});
    plan_.cost += op.cost;
    for (ValueId output : op.outputs) adopt(output, number);
    drop_unneeded(number + 1);
  }

  void adopt(ValueId id, std::uint32_t op) {
    const Value& value = problem_[id];
    ValueId& now = now_[index(value.storage)];
    if (value.change_of != kNoValue) {
      now = id;
      return;
    }
    const bool first = op == stage_;
    if (value.view_of == kNoValue && (first || (now == kNoValue && stage_ <= value.last_remake)))
      put(id, op);
  }

  void put(ValueId id, std::uint32_t op) {
    const Value& value = problem_[id];
    if (value.view_of != kNoValue) return;
    if (now_[index(value.storage)] == kNoValue) {
      used_ += value.size;
      resident_.push_back(value.storage);
    }
    now_[index(value.storage)] = id;
    note_peak(used_, op);
  }

  void note_peak(Bytes bytes, std::uint32_t op) {
    Bytes& here = plan_.stage_peaks[stage_];
    here = std::max(here, bytes);
    if (bytes <= plan_.peak) return;
    plan_.peak = bytes;
    plan_.peak_op = op;
  }

  void drop_unneeded(std::uint32_t done) {
    std::erase_if(resident_, [&](StorageId storage) {
      ValueId& now = now_[index(storage)];
      if (last_need_[index(now)] > done) return false;
      plan_.schedule.moves.push_back({Move::Evict, index(storage)});
      used_ -= problem_[now].size;
      now = kNoValue;
      return true;
    });
  }

  const Problem& problem_;
  const Retention& retention_;
  const Runs& runs_;
  std::vector<ValueId> now_;  // by storage: the version that is there
  std::vector<StorageId> resident_;
  std::vector<std::uint32_t> last_need_;  // by value
  Bytes used_;
  Stage stage_ = 0;
  Plan plan_;
};

}  // namespace

std::optional<Runs> runs_for(const Problem& problem, const Retention& retention) {
  return RunFinder{problem, retention}.find();
}

Plan plan_of(const Problem& problem, const Retention& retention, const Runs& runs, Bytes budget) {
  return Emitter{problem, retention, runs}.emit(budget);
}

std::optional<Plan> plan_of(const Problem& problem, const Retention& retention, Bytes budget) {
  const std::optional<Runs> runs = runs_for(problem, retention);
  if (!runs) return std::nullopt;
  return plan_of(problem, retention, *runs, budget);
}

}  // namespace weir::plan
