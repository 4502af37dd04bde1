#include "plan/staged_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/bounds.h"
#include "weir/errors.h"

namespace weir::plan {

namespace {

// What stages, values and ops may come to together: beyond, a model takes gigabytes and proves
// nothing.
constexpr std::size_t kMostCells = 1'500'000;
constexpr double kBudgetUnits = 1000;  // memory rows are scaled so that the budget is this much

void refuse_giants(const Problem& problem) {
  const std::size_t cells = problem.ops.size() * (problem.ops.size() + problem.values.size());
  if (cells <= kMostCells) return;
  throw BadInput(fmt::format("{}: {} ops are too many for a solver; use another method",
                             problem.source, problem.ops.size()));
}

std::vector<std::int64_t> sizes_in(const Problem& problem) {
  std::vector<std::int64_t> sizes;
  for (const Value& value : problem.values) sizes.push_back(value.size.n);
  for (const ProblemOp& op : problem.ops) sizes.push_back(op.scratch.n);
  return sizes;
}

std::vector<std::int64_t> costs_in(const Problem& problem) {
  std::vector<std::int64_t> costs;
  for (const ProblemOp& op : problem.ops) costs.push_back(op.cost.n);
  return costs;
}

}  // namespace

StagedModel::StagedModel(const Problem& problem, Bytes budget)
    : problem_{problem},
      budget_{budget},
      last_use_{last_uses(problem)},
      first_{problem.start.first},
      roomy_{roomy_until(problem, last_use_, budget)} {
  refuse_giants(problem);
  set_bytes();
}

// Sizes are multiples of their common divisor, so half of one more changes nothing but keeps rows
// away from the solver's tolerance.
void StagedModel::set_bytes() {
  const std::int64_t step = common_divisor(sizes_in(problem_));
  const std::int64_t budget = budget_.n / step * step;
  bytes_ = std::max(1.0, static_cast<double>(budget)) / kBudgetUnits;
  most_bytes_ = (static_cast<double>(budget) + static_cast<double>(step) / 2) / bytes_;
}

void StagedModel::count_costs() {
  costs_ = true;
  unit_ = static_cast<double>(common_divisor(costs_in(problem_)));
  for (std::uint32_t op = first_; op < problem_.end(); ++op)
    offset_ += static_cast<double>(problem_.ops[op].cost.n);
}

void StagedModel::add_columns() {
  stays_.resize(problem_.end() + 1);
  runs_.resize(problem_.end() + 1);
  for (Stage stage = first_; stage <= problem_.end(); ++stage) {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      stays_[stage].push_back(fixed_or_new_stay(stage, ValueId{i}));
    for (std::uint32_t op = 0; op < problem_.end() && op <= stage; ++op)
      runs_[stage].push_back(fixed_or_new_run(stage, op));
  }
}

void StagedModel::add_rules(Stage stage) {
  if (decides(stage)) add_dependencies(stage);
  add_retention(stage);
}

Cell StagedModel::fixed_or_new_stay(Stage stage, ValueId id) {
  const Value& value = problem_[id];
  if (stage == first_) {
    if (value.appears < first_ && value.held_in(first_)) return kOne;
    const bool resident =
        std::ranges::find(problem_.start.resident, id) != problem_.start.resident.end();
    if (!resident || last_use_[index(id)] < stage) return kZero;
    if (stage <= roomy_) return kOne;
    return rows_.add_choice(0);
  }
  if (value.appears >= stage || value.end() < stage || last_use_[index(id)] < stage) return kZero;
  const bool must = value.held_in(stage) && (value.held_in(stage - 1) || stage > value.last_remake);
  if (must) return kOne;
  if (stage <= roomy_) return value.appears >= first_ || stays(first_, id) == kOne ? kOne : kZero;
  return rows_.add_choice(0);
}

Cell StagedModel::fixed_or_new_run(Stage stage, std::uint32_t op) {
  if (op == stage) return kOne;
  if ((stage <= roomy_ && roomy_ >= first_) || !worth_running(stage, op)) return kZero;
  const double cost = static_cast<double>(problem_.ops[op].cost.n) / unit_;
  return rows_.add_choice(costs_ ? cost : 0);
}

bool StagedModel::worth_running(Stage stage, std::uint32_t op) const {
  return std::ranges::any_of(problem_.ops[op].outputs, [&](ValueId output) {
    return stage <= problem_[output].last_remake && stage <= last_use_[index(output)];
  });
}

Cell StagedModel::stays(Stage stage, ValueId value) const {
  return stage <= problem_.end() ? stays_[stage][index(value)] : kZero;
}

Cell StagedModel::runs(Stage stage, std::uint32_t op) const {
  return op < runs_[stage].size() ? runs_[stage][op] : kZero;
}

Cell StagedModel::made(Stage stage, ValueId id) const {
  const Value& value = problem_[id];
  if (value.appears == stage) return kOne;
  if (value.maker == kNobody || value.appears > stage || stage > value.last_remake) return kZero;
  return runs(stage, value.maker);
}

// An op finds what it reads; what is held is there.
void StagedModel::add_dependencies(Stage stage) {
  for (std::uint32_t op = 0; op < runs_[stage].size(); ++op) {
    const Cell run = runs(stage, op);
    if (run == kZero) continue;
    for (ValueId input : problem_.ops[op].inputs)
      rows_.add({{1, run}, {-1, made(stage, input)}, {-1, stays(stage, input)}}, 0);
    if (op < stage) add_usefulness(stage, op);
  }
  for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
    if (problem_.values[i].held_in(stage))
      rows_.add({{-1, made(stage, ValueId{i})}, {-1, stays(stage, ValueId{i})}}, -1);
}

// Only what is there can stay; what is there is not made again for its own sake.
void StagedModel::add_retention(Stage stage) {
  for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
    const ValueId id{i};
    const Value& value = problem_.values[i];
    const Cell stay = stays(stage, id);
    rows_.add({{1, stays(stage + 1, id)}, {-1, made(stage, id)}, {-1, stay}}, 0);
    if (value.view_of != kNoValue) {
      rows_.add({{1, stays(stage + 1, id)}, {-1, stays(stage + 1, value.view_of)}}, 0);
      if (stage == first_) rows_.add({{1, stay}, {-1, stays(stage, value.view_of)}}, 0);
    }
    if (value.maker == kNobody || value.appears >= stage) continue;
    const Cell run = runs(stage, value.maker);
    if (problem_.ops[value.maker].outputs.size() == 1) rows_.add({{1, run}, {1, stay}}, 1);
    if (value.changed_by != kNobody && value.changed_by < stage)
      for (std::uint32_t later = i + 1; later < problem_.values.size(); ++later)
        if (problem_.values[later].storage == value.storage)
          rows_.add({{1, runs(stage, value.changed_by)}, {1, stays(stage, ValueId{later})}}, 1);
  }
}

// An op runs again only if what it makes is read in this stage or stays.
void StagedModel::add_usefulness(Stage stage, std::uint32_t op) {
  std::vector<Term> row{{1, runs(stage, op)}};
  for (ValueId output : problem_.ops[op].outputs) {
    if (problem_[output].held_in(stage)) return;
    for (std::uint32_t user : problem_[output].users) row.push_back({-1, runs(stage, user)});
    row.push_back({-1, stays(stage + 1, output)});
  }
  rows_.add(row, 0);
}

bool StagedModel::adds_up(const Value& value) const {
  return value.maker == kNobody || problem_.ops[value.maker].outputs.size() == 1;
}

std::vector<Cell> StagedModel::at_maker(Stage stage, ValueId id) const {
  const Value& value = problem_[id];
  if (value.change_of != kNoValue || value.maker == kNobody) return {stays(stage, id)};
  return {stays(stage, id), runs(stage, value.maker)};
}

Retention StagedModel::retention_in(const std::vector<double>& solution, double threshold) const {
  Retention retention{problem_};
  for (ValueId value : problem_.start.resident)
    if (!is_set(solution, stays(first_, value), threshold)) retention.drop(first_, value);
  for (Stage stage = first_ + 1; stage <= problem_.end(); ++stage) {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      if (is_set(solution, stays(stage, ValueId{i}), threshold)) retention.keep(stage, ValueId{i});
    }
  }
  return retention;
}

std::vector<Entry> StagedModel::guess_of(const Retention& retention, const Runs& runs) const {
  std::vector<Entry> guess;
  for (Stage stage = first_; stage <= problem_.end(); ++stage) {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (const Cell cell = stays(stage, ValueId{i}); cell >= 0)
        guess.push_back({cell, retention.keeps(stage, ValueId{i}) ? 1.0 : 0.0});
    for (std::uint32_t op = 0; op < runs_[stage].size(); ++op)
      if (const Cell cell = this->runs(stage, op); cell >= 0)
        guess.push_back({cell, runs.at(stage, op) ? 1.0 : 0.0});
  }
  return guess;
}

}  // namespace weir::plan
