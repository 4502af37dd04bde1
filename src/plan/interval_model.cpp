#include "plan/interval_model.h"

#include <algorithm>

namespace weir::plan {
namespace {

constexpr double kRuns = 1e-6;       // less of a run is none
constexpr double kTolerance = 1e-4;  // of a unit: what a solver may take for nothing

double value_of(const std::vector<double>& solution, Cell cell) {
  if (cell == kOne) return 1;
  return cell == kZero ? 0 : solution[static_cast<std::size_t>(cell)];
}

}  // namespace

IntervalModel::IntervalModel(const Problem& problem, Bytes budget, std::uint32_t intervals)
    : StagedModel{problem, budget} {
  count_costs();
  add_columns();
  for (Stage stage = first_to_decide(); stage <= problem.end(); ++stage) {
    add_rules(stage);
    if (decides(stage)) add_moment(stage, stage);
  }
  limit_intervals(intervals);
}

void IntervalModel::limit_intervals(std::uint32_t intervals) {
  for (std::uint32_t op = 0; op < problem_.end(); ++op) {
    std::vector<Term> again;
    for (Stage stage = std::max(first_, op + 1); stage <= problem_.end(); ++stage)
      again.push_back({1, runs(stage, op)});
    rows_.add(again, intervals - 1);
  }
}

bool IntervalModel::takes_bytes(Stage stage, const Value& value) const {
  return value.size.n != 0 && value.view_of == kNoValue && value.appears <= stage;
}

std::vector<std::uint32_t> IntervalModel::readers(Stage stage, const Value& value,
                                                  std::uint32_t from) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t user : value.users)
    if (user >= from && runs(stage, user) != kZero) found.push_back(user);
  return found;
}

bool IntervalModel::unread_before(Stage stage, const Value& value, std::uint32_t op) const {
  return adds_up(value) && std::ranges::none_of(value.users, [&](std::uint32_t user) {
           return user < op && runs(stage, user) != kZero;
         });
}

Cell IntervalModel::covered(Stage stage, ValueId id, std::uint32_t op) {
  const Value& value = problem_[id];
  Cell most = value.held_in(stage) ? kOne : stays(stage + 1, id);
  const std::vector<std::uint32_t> after = readers(stage, value, op);
  for (auto reader = after.rbegin(); reader != after.rend(); ++reader) {
    const auto [known, added] = covered_.try_emplace({stage, id, *reader}, kZero);
    if (added) known->second = rows_.larger(most, runs(stage, *reader));
    most = known->second;
  }
  return most;
}

void IntervalModel::add_amount(std::vector<Term>& row, Stage stage, ValueId id, std::uint32_t op) {
  const Value& value = problem_[id];
  std::vector<Cell> cells;
  if (value.maker != kNobody && value.maker > op)
    cells = {stays(stage, id)};
  else if (value.maker == op)
    cells = at_maker(stage, id);
  else if (unread_before(stage, value, op))
    cells = {stays(stage, id), made(stage, id)};
  else
    cells = {covered(stage, id, op)};
  for (Cell cell : cells) row.push_back({in_units(value.size), cell});
}

// While the op runs, what it reads and makes and all that is there beside fits.
void IntervalModel::add_moment(Stage stage, std::uint32_t op) {
  moments_.insert({stage, op});
  std::vector<Term> row;
  for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
    if (takes_bytes(stage, problem_.values[i])) add_amount(row, stage, ValueId{i}, op);
  if (op < problem_.end()) row.push_back({in_units(problem_.ops[op].scratch), runs(stage, op)});
  rows_.add(row, most_bytes_);
}

double IntervalModel::amount_in(const std::vector<double>& solution, Stage stage, ValueId id,
                                std::uint32_t op) const {
  const Value& value = problem_[id];
  const double stay = value_of(solution, stays(stage, id));
  if (value.maker != kNobody && value.maker > op) return stay;
  double sum = 0;
  if (value.maker == op) {
    for (Cell cell : at_maker(stage, id)) sum += value_of(solution, cell);
    return sum;
  }
  if (unread_before(stage, value, op)) return stay + value_of(solution, made(stage, id));
  double most = value.held_in(stage) ? 1 : value_of(solution, stays(stage + 1, id));
  for (std::uint32_t reader : readers(stage, value, op))
    most = std::max(most, value_of(solution, runs(stage, reader)));
  return most;
}

double IntervalModel::bytes_in(const std::vector<double>& solution, Stage stage,
                               std::uint32_t op) const {
  double sum = 0;
  for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
    if (const Value& value = problem_.values[i]; takes_bytes(stage, value))
      sum += in_units(value.size) * amount_in(solution, stage, ValueId{i}, op);
  return sum + in_units(problem_.ops[op].scratch) * value_of(solution, runs(stage, op));
}

std::size_t IntervalModel::add_violated(const std::vector<double>& solution) {
  std::size_t added = 0;
  for (Stage stage = first_to_decide(); stage <= problem_.end(); ++stage) {
    if (!decides(stage)) continue;
    for (std::uint32_t op = 0; op < std::min(stage, problem_.end()); ++op) {
      if (value_of(solution, runs(stage, op)) < kRuns || moments_.contains({stage, op})) continue;
      if (bytes_in(solution, stage, op) <= most_bytes_ + kTolerance) continue;
      add_moment(stage, op);
      ++added;
    }
  }
  return added;
}

}  // namespace weir::plan
