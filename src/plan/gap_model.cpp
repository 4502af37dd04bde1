#include "plan/gap_model.h"

#include <algorithm>

#include "plan/answer.h"
#include "plan/bounds.h"
#include "plan/rows.h"

namespace weir::plan {
namespace {

constexpr double kBudgetUnits = 1000;  // memory rows are scaled so that the budget is this much
constexpr double kSlack = 1e-6;        // of such a unit: a row is never tighter than it should be

std::vector<std::int64_t> costs_in(const Problem& problem) {
  std::vector<std::int64_t> costs;
  for (const ProblemOp& op : problem.ops) costs.push_back(op.cost.n);
  return costs;
}

}  // namespace

GapModel::GapModel(const Problem& problem, Bytes budget)
    : problem_{problem},
      budget_{budget},
      lack_(problem.end() + 1),
      has_row_(problem.end() + 1),
      at_start_(problem.values.size()),
      unit_{static_cast<double>(common_divisor(costs_in(problem)))},
      offset_{static_cast<double>(cost_without_budget(problem).n)} {
  for (ValueId id : problem.start.resident) at_start_[index(id)] = true;
  for (std::uint32_t i = 0; i < problem.values.size(); ++i) add_gaps(ValueId{i});
  add_costs();
  count_bytes();
}

// Where it is read, or must be there, it is.
void GapModel::add_gaps(ValueId id) {
  const Value& value = problem_[id];
  if (value.maker == kNobody || value.view_of != kNoValue || value.size == Bytes{}) return;
  const Stage start = problem_.start.first;
  std::vector<Stage> there;
  for (std::uint32_t user : value.users)
    if (user >= start) there.push_back(user);
  if (value.first_held < value.end_held && value.end_held > start)
    there.push_back(std::max(value.first_held, start));
  std::ranges::sort(there);
  bool known = at_start_[index(id)] || value.held_in(start);
  Stage first = start;
  if (value.maker >= start) {
    known = true;
    first = value.maker + 1;
  }
  for (Stage read : there) {
    if (known && read > first) add_gap(id, first, read);
    known = true;
    first = std::max(first, read + 1);
  }
}

// What cannot be made again by then, or must be there, is not away.
void GapModel::add_gap(ValueId id, Stage first, Stage read) {
  const Value& value = problem_[id];
  const Stage last_stay = std::min(read - 1, value.last_stay);
  const Stage end_away = std::min(read, std::max(first, value.last_remake));
  for (Stage stage = first; stage <= last_stay; ++stage)
    if (!value.held_in(stage)) lack_[stage] += value.size;
  const Stage end = std::min(end_away, value.last_stay == kNobody ? read : value.last_stay + 1);
  if (end > first && value.last_remake >= first) gaps_.push_back({id, first, end - 1});
}

// An op with several outputs brings all of them back at once.
void GapModel::add_costs() {
  for (const ProblemOp& op : problem_.ops) costs_.push_back(static_cast<double>(op.cost.n) / unit_);
  std::vector<std::int32_t> runs(problem_.ops.size(), -1);
  std::vector<std::vector<Entry>> of_value(problem_.values.size());
  for (Gap& gap : gaps_) {
    const std::uint32_t maker = problem_[gap.value].maker;
    const bool alone = problem_.ops[maker].outputs.size() == 1;
    gap.column = program_.add_column(alone ? costs_[maker] : 0, 0, 1, true);
    if (!alone) of_value[index(gap.value)].push_back({gap.column, 1});
  }
  for (std::uint32_t i = 0; i < of_value.size(); ++i) {
    if (of_value[i].empty()) continue;
    const std::uint32_t maker = problem_.values[i].maker;
    const double most = static_cast<double>(gaps_.size());
    if (runs[maker] < 0) runs[maker] = program_.add_column(costs_[maker], 0, most, false);
    of_value[i].push_back({runs[maker], -1});
    program_.add_row(-kNoLimit, of_value[i], 0);
  }
}

// As floor_of, with all that would be there if nothing were away.
void GapModel::count_bytes() {
  std::vector<Bytes> change(problem_.end() + 2), most(problem_.end() + 2);
  for (const Value& value : problem_.values) {
    change[value.first_held] += value.size;
    change[value.end_held] -= value.size;
  }
  for (const Gap& gap : gaps_)
    for (Stage stage = gap.first; stage <= gap.last; ++stage)
      if (!problem_[gap.value].held_in(stage)) most[stage] += problem_[gap.value].size;
  Bytes held;
  for (Stage stage = 0; stage <= problem_.end(); ++stage) {
    held += change[stage];
    Bytes sum = held;
    const auto count = [&](ValueId id) {
      if (!problem_[id].held_in(stage)) sum += problem_[id].size;
    };
    if (stage < problem_.end()) {
      for (ValueId input : problem_.ops[stage].inputs) count(input);
      for (ValueId output : problem_.ops[stage].outputs)
        if (problem_[output].change_of == kNoValue) count(output);
      sum += problem_.ops[stage].scratch;
    }
    lack_[stage] += sum - budget_;
    if (stage >= problem_.start.first && lack_[stage] > most[stage]) possible_ = false;
  }
}

std::size_t GapModel::add_violated(const std::vector<double>& solution) {
  std::vector<double> away(problem_.end() + 2);
  for (const Gap& gap : gaps_) {
    const double bytes = solution.empty() ? 0
                                          : solution[static_cast<std::size_t>(gap.column)] *
                                                static_cast<double>(problem_[gap.value].size.n);
    for (Stage stage = gap.first; stage <= gap.last; ++stage)
      if (!problem_[gap.value].held_in(stage)) away[stage] += bytes;
  }
  const double least = 1e-5 * static_cast<double>(budget_.n);
  std::size_t added = 0;
  Stage worst = kNobody;
  double most = 0;
  for (Stage stage = problem_.start.first; stage <= problem_.end() + 1; ++stage) {
    const double over = stage > problem_.end() || has_row_[stage]
                            ? 0
                            : static_cast<double>(lack_[stage].n) - away[stage];
    if (over > std::max(most, least)) {
      most = over;
      worst = stage;
    }
    if ((over > least && stage % 16 != 0) || worst == kNobody) continue;
    add_row(worst);
    ++added;
    worst = kNobody;
    most = 0;
  }
  return added;
}

void GapModel::add_row(Stage stage) {
  const double scale = kBudgetUnits / std::max(1.0, static_cast<double>(budget_.n));
  std::vector<Entry> row;
  for (const Gap& gap : gaps_)
    if (gap.first <= stage && stage <= gap.last && !problem_[gap.value].held_in(stage))
      row.push_back({gap.column, scale * static_cast<double>(problem_[gap.value].size.n)});
  has_row_[stage] = true;
  program_.add_row(scale * static_cast<double>(lack_[stage].n) - kSlack, row, kNoLimit);
}

}  // namespace weir::plan
