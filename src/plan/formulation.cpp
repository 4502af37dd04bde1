#include "plan/formulation.h"

#include <algorithm>

namespace weir::plan {
namespace {

// Whole rows solve several times faster, but there are as many entries as the ops cubed.
constexpr std::size_t kMostForWholeRows = 250;

}  // namespace

Formulation::Formulation(const Problem& problem, Bytes budget, Aim aim)
    : StagedModel{problem, budget}, in_steps_{problem.ops.size() > kMostForWholeRows} {
  aim_at(aim);
  add_columns();
  for (Stage stage = first_to_decide(); stage <= problem.end(); ++stage) {
    add_rules(stage);
    if (decides(stage)) add_memory(stage);
  }
}

void Formulation::aim_at(Aim aim) {
  if (aim == Aim::LeastCost) return count_costs();
  unit_ = bytes_;
  most_bytes_ = 0;
  peak_ = rows_.add_column(1, in_units(floor_of(problem_).budget), kNoLimit, false);
}

Formulation::Course Formulation::course_of(Stage stage, ValueId id) {
  const Value& value = problem_[id];
  Course course{.before = stays(stage, id), .at_maker = at_maker(stage, id)};
  for (std::uint32_t user : value.users)
    if (runs(stage, user) != kZero) course.ends.push_back(user);
  Cell now = value.held_in(stage) ? kOne : stays(stage + 1, id);
  course.then.resize(course.ends.size() + 1);
  for (std::size_t i = course.ends.size(); i-- > 0;) {
    course.then[i + 1] = {now};
    if (i > 0 || !adds_up(value)) now = rows_.larger(now, runs(stage, course.ends[i]));
  }
  course.then[0] = {now};
  if (adds_up(value)) course.then[0] = {stays(stage, id), made(stage, id)};
  return course;
}

void Formulation::add_amount(std::vector<Term>& row, const Course& course, ValueId id,
                             std::uint32_t op) const {
  const Value& value = problem_[id];
  const double size = in_units(value.size);
  const auto add = [&](Cell cell) { row.push_back({size, cell}); };
  if (value.maker == kNobody || value.maker < op) {
    const auto past = std::ranges::lower_bound(course.ends, op) - course.ends.begin();
    for (Cell cell : course.then[static_cast<std::size_t>(past)]) add(cell);
  } else if (value.maker == op) {
    for (Cell cell : course.at_maker) add(cell);
  } else {
    add(course.before);
  }
}

// While each op runs, what it reads and makes and all that is there beside fits.
void Formulation::add_memory(Stage stage) {
  std::vector<std::pair<ValueId, Course>> courses;
  for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
    const Value& value = problem_.values[i];
    if (value.size.n != 0 && value.view_of == kNoValue && value.appears <= stage)
      courses.emplace_back(ValueId{i}, course_of(stage, ValueId{i}));
  }
  std::vector<Term> row, before;
  Cell used = kZero;
  const auto add = [&](std::uint32_t op) {
    row.clear();
    for (const auto& [value, course] : courses) add_amount(row, course, value, op);
    if (op < problem_.end() && problem_.ops[op].scratch > Bytes{})
      row.push_back({in_units(problem_.ops[op].scratch), runs(stage, op)});
    add_memory_row(row, before, used);
  };
  for (std::uint32_t op = 0; op < runs_[stage].size(); ++op)
    if (runs(stage, op) != kZero) add(op);
  if (stage == problem_.end()) add(problem_.end());
}

void Formulation::add_memory_row(const std::vector<Term>& row, std::vector<Term>& before,
                                 Cell& used) {
  std::vector<Term> terms = row;
  if (!in_steps_) {
    if (peak_ != kZero) terms.push_back({-1, peak_});
    return rows_.add(terms, most_bytes_);
  }
  const Cell now = rows_.add_column(0, 0, peak_ == kZero ? most_bytes_ : kNoLimit, false);
  if (peak_ != kZero) rows_.add({{1, now}, {-1, peak_}}, 0);
  for (const auto& [factor, cell] : before) terms.push_back({-factor, cell});
  terms.push_back({1, used});
  terms.push_back({-1, now});
  rows_.add(terms, 0);
  before = row;
  used = now;
}

}  // namespace weir::plan
