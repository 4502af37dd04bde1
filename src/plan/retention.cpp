#include "plan/retention.h"

#include <algorithm>

#include "plan/plan_writer.h"

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

// Runs what the table says, and drops what no one wants as soon as that is so.
class Emitter final : public PlanWriter {
 public:
  Emitter(const Problem& problem, const Retention& retention, const Runs& runs)
      : PlanWriter{problem},
        retention_{retention},
        runs_{runs},
        last_need_(problem.values.size()) {}

 private:
  void begin() override {
    const Retention all{problem_};
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      if (all.keeps(stage_, ValueId{i})) put(ValueId{i}, stage_);
      last_need_[i] = retention_.keeps(stage_, ValueId{i}) ? UINT32_MAX : 0;
    }
    drop_unneeded(0);
  }

  void run_stage() override {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].maker == kNobody && problem_.values[i].appears == stage_)
        put(ValueId{i}, stage_);
    find_needs();
    drop_unneeded(0);
    for (std::uint32_t op = 0; op <= stage_ && op < problem_.end(); ++op) {
      if (!runs_.at(stage_, op)) continue;
      compute(op);
      drop_unneeded(op + 1);
    }
  }

  void came(StorageId storage) override { resident_.push_back(storage); }

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

  void drop_unneeded(std::uint32_t done) {
    std::erase_if(resident_, [&](StorageId storage) {
      if (last_need_[index(now_[index(storage)])] > done) return false;
      evict(storage);
      return true;
    });
  }

  const Retention& retention_;
  const Runs& runs_;
  std::vector<StorageId> resident_;
  std::vector<std::uint32_t> last_need_;  // by value
};

}  // namespace

std::optional<Runs> runs_for(const Problem& problem, const Retention& retention) {
  return RunFinder{problem, retention}.find();
}

Plan plan_of(const Problem& problem, const Retention& retention, const Runs& runs, Bytes budget) {
  return Emitter{problem, retention, runs}.write(budget);
}

std::optional<Plan> plan_of(const Problem& problem, const Retention& retention, Bytes budget) {
  const std::optional<Runs> runs = runs_for(problem, retention);
  if (!runs) return std::nullopt;
  return plan_of(problem, retention, *runs, budget);
}

}  // namespace weir::plan
