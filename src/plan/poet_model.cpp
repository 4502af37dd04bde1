#include "plan/poet_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/bounds.h"
#include "plan/reductions.h"
#include "weir/errors.h"

namespace weir::plan {
namespace {

// What stages, values and ops may come to together: a row lists all that is there while an op runs.
constexpr std::size_t kMostCells = 150'000;
constexpr double kBudgetUnits = 1000;  // memory rows are scaled so that the budget is this much

void refuse_giants(const Problem& problem) {
  const std::size_t cells = problem.ops.size() * (problem.ops.size() + problem.values.size());
  if (cells <= kMostCells) return;
  throw BadInput(fmt::format("{}: {} ops are too many for a solver with a tier; use another method",
                             problem.source, problem.ops.size()));
}

std::vector<std::int64_t> sizes_in(const Problem& problem) {
  std::vector<std::int64_t> sizes;
  for (const Value& value : problem.values) sizes.push_back(value.size.n);
  for (const ProblemOp& op : problem.ops) sizes.push_back(op.scratch.n);
  return sizes;
}

bool has_room_for_all(const Problem& problem, Bytes capacity) {
  Bytes sum;
  for (const Value& value : problem.values) sum += value.size;
  return sum <= capacity;
}

std::vector<std::int64_t> costs_in(const Problem& problem) {
  std::vector<std::int64_t> costs;
  for (const ProblemOp& op : problem.ops) costs.push_back(op.cost.n);
  for (const Value& value : problem.values) {
    if (!problem.tier) break;
    costs.push_back(transfer_time(value.size, problem.tier->link.write).n);
    costs.push_back(transfer_time(value.size, problem.tier->link.read).n);
  }
  return costs;
}

}  // namespace

PoetModel::PoetModel(const Problem& problem, Bytes budget, Bytes capacity)
    : problem_{problem},
      budget_{budget},
      capacity_{capacity},
      last_use_{last_uses(problem)},
      first_{problem.start.first},
      roomy_{roomy_until(problem, last_use_, budget)},
      tier_has_room_{has_room_for_all(problem, capacity)},
      stays_(problem.end() + 1),
      copies_(problem.end() + 1),
      offloads_(problem.end() + 1),
      runs_(problem.end() + 1),
      fetches_(problem.end() + 1) {
  refuse_giants(problem);
  set_units();
  for (Stage stage = first_; stage <= problem.end(); ++stage) add_columns(stage);
  for (Stage stage = first_; stage <= problem.end(); ++stage) {
    for (std::uint32_t i = 0; i < problem.values.size(); ++i) {
      add_copies(stage, ValueId{i});
      if (stage >= roomy_) add_retention(stage, ValueId{i});
    }
    add_tier(stage);
    if (!in_play(stage)) continue;
    add_dependencies(stage);
    add_memory(stage);
  }
}

// Sizes are multiples of their common divisor, so half of one more changes nothing but keeps rows
// away from the solver's tolerance.
void PoetModel::set_units() {
  const std::int64_t step = common_divisor(sizes_in(problem_));
  const auto rounded = [&](Bytes most) {
    return static_cast<double>(most.n / step * step) + static_cast<double>(step) / 2;
  };
  bytes_ = std::max(1.0, static_cast<double>(budget_.n)) / kBudgetUnits;
  most_bytes_ = rounded(budget_) / bytes_;
  most_copies_ = rounded(capacity_) / bytes_;
  unit_ = static_cast<double>(common_divisor(costs_in(problem_)));
  offset_ = static_cast<double>(cost_without_budget(problem_).n);
}

void PoetModel::add_columns(Stage stage) {
  for (std::uint32_t op = 0; op < problem_.end() && op <= stage; ++op)
    runs_[stage].push_back(new_run(stage, op));
  for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
    stays_[stage].push_back(new_stay(stage, ValueId{i}));
    copies_[stage].push_back(new_copy(stage, ValueId{i}));
    offloads_[stage].push_back(new_offload(stage, ValueId{i}));
    fetches_[stage].push_back(new_fetches(stage, ValueId{i}));
  }
}

Cell PoetModel::new_stay(Stage stage, ValueId id) {
  const Value& value = problem_[id];
  if (stage == first_) {
    if (value.appears < first_ && value.held_in(first_)) return kOne;
    const bool resident =
        std::ranges::find(problem_.start.resident, id) != problem_.start.resident.end();
    if (!resident || last_use_[index(id)] < stage) return kZero;
    return stage <= roomy_ ? kOne : rows_.add_choice(0);
  }
  if (value.appears >= stage || value.end() < stage || last_use_[index(id)] < stage) return kZero;
  const bool was_held = held_on_device(problem_, id, stage - 1) || stage > value.last_remake;
  if (held_on_device(problem_, id, stage) && was_held) return kOne;
  if (stage <= roomy_) return value.appears >= first_ || stays(first_, id) == kOne ? kOne : kZero;
  return rows_.add_choice(0);
}

// The version that is there in this stage, if it is of use then.
bool PoetModel::may_be_copied(Stage stage, ValueId id) const {
  const Value& value = problem_[id];
  return problem_.tier && value.view_of == kNoValue && value.size <= capacity_ &&
         stage >= value.appears && stage <= value.end() && stage <= last_use_[index(id)];
}

Cell PoetModel::new_copy(Stage stage, ValueId id) {
  const Value& value = problem_[id];
  if (!may_be_copied(stage, id) || value.appears >= stage) return kZero;
  const auto& at_start = problem_.start.offloaded;
  const bool has_one = std::ranges::find(at_start, value.storage) != at_start.end();
  if (value.appears < first_ && has_one) return rows_.add_choice(0);
  return stage > first_ && stage > roomy_ ? rows_.add_choice(0) : kZero;
}

Cell PoetModel::new_offload(Stage stage, ValueId id) {
  if (!may_be_copied(stage, id) || stage < roomy_) return kZero;
  const Nanos cost = transfer_time(problem_[id].size, problem_.tier->link.write);
  return rows_.add_choice(scaled(cost));
}

Cell PoetModel::new_run(Stage stage, std::uint32_t op) {
  if (op == stage) return kOne;
  const bool worth = std::ranges::any_of(problem_.ops[op].outputs, [&](ValueId output) {
    return stage <= problem_[output].last_remake && stage <= last_use_[index(output)];
  });
  if ((stage <= roomy_ && roomy_ >= first_) || !worth) return kZero;
  return rows_.add_choice(scaled(problem_.ops[op].cost));
}

// What nobody reads comes back to make room in the tier.
std::vector<PoetModel::Fetch> PoetModel::new_fetches(Stage stage, ValueId id) {
  std::vector<Fetch> result;
  if (!may_be_copied(stage, id) || !in_play(stage)) return result;
  const double cost = scaled(transfer_time(problem_[id].size, problem_.tier->link.read));
  for (std::uint32_t user : problem_[id].users)
    if (const Cell run = runs(stage, user); run != kZero)
      result.push_back({user, rows_.add_choice(cost), run});
  const bool is_read = !result.empty() && result.back().op == stage;
  if (!tier_has_room_ && !is_read && stage < problem_.end() && problem_[id].appears < stage)
    result.push_back({stage, rows_.add_choice(cost), kZero});
  return result;
}

Cell PoetModel::stays(Stage stage, ValueId value) const {
  return stage <= problem_.end() ? stays_[stage][index(value)] : kZero;
}

Cell PoetModel::copied(Stage stage, ValueId value) const {
  return stage <= problem_.end() ? copies_[stage][index(value)] : kZero;
}

Cell PoetModel::runs(Stage stage, std::uint32_t op) const {
  return op < runs_[stage].size() ? runs_[stage][op] : kZero;
}

Cell PoetModel::made(Stage stage, ValueId id) const {
  const Value& value = problem_[id];
  if (value.appears == stage) return kOne;
  if (value.maker == kNobody || value.appears > stage || stage > value.last_remake) return kZero;
  return runs(stage, value.maker);
}

CopyPlan PoetModel::plan_in(const std::vector<double>& solution) const {
  CopyPlan plan{problem_};
  for (Stage stage = first_; stage <= problem_.end(); ++stage) {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      const ValueId id{i};
      plan.stays.set(stage, i, is_set(solution, stays(stage, id)));
      plan.copies.set(stage, i, is_set(solution, copied(stage, id)));
      plan.offloads.set(stage, i, is_set(solution, offloads(stage, id)));
      for (const Fetch& fetch : fetches(stage, id))
        if (is_set(solution, fetch.cell)) plan.fetches.insert({stage, fetch.op, id});
    }
    for (std::uint32_t op = 0; op < runs_[stage].size(); ++op)
      plan.runs.set(stage, op, is_set(solution, runs(stage, op)));
  }
  return plan;
}

std::vector<Entry> PoetModel::guess_of(const Retention& retention, const Runs& run) const {
  std::vector<Entry> guess;
  const auto add = [&](Cell cell, bool yes) {
    if (cell >= 0) guess.push_back({cell, yes ? 1.0 : 0.0});
  };
  for (Stage stage = first_; stage <= problem_.end(); ++stage) {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      add(stays(stage, ValueId{i}), retention.keeps(stage, ValueId{i}));
      add(copied(stage, ValueId{i}), false);
      add(offloads(stage, ValueId{i}), false);
      for (const Fetch& fetch : fetches(stage, ValueId{i})) add(fetch.cell, false);
    }
    for (std::uint32_t op = 0; op < runs_[stage].size(); ++op)
      add(runs(stage, op), run.at(stage, op));
  }
  return guess;
}

}  // namespace weir::plan
