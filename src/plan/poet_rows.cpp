// The rows of POET's model.
#include <algorithm>

#include "plan/poet_model.h"

namespace weir::plan {

// An op finds what it reads. Where a value can come back, its course says so.
void PoetModel::add_dependencies(Stage stage) {
  for (std::uint32_t op = 0; op < runs_[stage].size(); ++op) {
    const Cell run = runs(stage, op);
    if (run == kZero) continue;
    for (ValueId input : problem_.ops[op].inputs)
      if (fetches(stage, input).empty())
        rows_.add({{1, run}, {-1, made(stage, input)}, {-1, stays(stage, input)}}, 0);
    if (op < stage) add_usefulness(stage, op);
  }
  for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
    add_held(stage, ValueId{i});
    if (problem_.values[i].view_of != kNoValue) add_views(stage, ValueId{i});
  }
}

// What is held is on the device or in the tier; what must stay was so before.
void PoetModel::add_held(Stage stage, ValueId id) {
  const Value& value = problem_[id];
  if (!value.held_in(stage)) return;
  std::vector<Term> row{{-1, stays(stage, id)}};
  if (!held_on_device(problem_, id, stage)) row.push_back({-1, copied(stage, id)});
  for (const Fetch& fetch : fetches(stage, id)) row.push_back({-1, fetch.cell});
  const bool was_held = stage > 0 && value.held_in(stage - 1);
  if (!was_held && stage <= value.last_remake) row.push_back({-1, made(stage, id)});
  if (value.appears < stage) rows_.add(row, -1);
}

// Only what is there can stay; what is there is not made again for its own sake.
void PoetModel::add_retention(Stage stage, ValueId id) {
  const Value& value = problem_[id];
  const Cell stay = stays(stage, id), next = stays(stage + 1, id);
  if (stage < problem_.end() && (fetches(stage, id).empty() || !in_play(stage)))
    rows_.add({{1, next}, {-1, made(stage, id)}, {-1, stay}}, 0);
  if (value.view_of != kNoValue) {
    rows_.add({{1, next}, {-1, stays(stage + 1, value.view_of)}}, 0);
    if (stage == first_) rows_.add({{1, stay}, {-1, stays(stage, value.view_of)}}, 0);
  }
  if (value.maker == kNobody || value.appears >= stage) return;
  if (problem_.ops[value.maker].outputs.size() == 1)
    rows_.add({{1, runs(stage, value.maker)}, {1, stay}}, 1);
  if (value.changed_by == kNobody || value.changed_by >= stage) return;
  for (std::uint32_t later = index(id) + 1; later < problem_.values.size(); ++later)
    if (problem_.values[later].storage == value.storage)
      rows_.add({{1, runs(stage, value.changed_by)}, {1, stays(stage, ValueId{later})}}, 1);
}

// An op runs again only if what it makes is read in this stage, stays or goes to the tier.
void PoetModel::add_usefulness(Stage stage, std::uint32_t op) {
  std::vector<Term> row{{1, runs(stage, op)}};
  for (ValueId output : problem_.ops[op].outputs) {
    if (problem_[output].held_in(stage)) return;
    for (std::uint32_t user : problem_[output].users) row.push_back({-1, runs(stage, user)});
    row.push_back({-1, stays(stage + 1, output)});
    row.push_back({-1, offloads(stage, output)});
  }
  rows_.add(row, 0);
}

// Only what is there goes to the tier, and only what has a copy comes back, for an op that runs.
void PoetModel::add_copies(Stage stage, ValueId id) {
  const Cell copy = copied(stage, id), offload = offloads(stage, id);
  rows_.add({{1, copied(stage + 1, id)}, {-1, copy}, {-1, offload}}, 0);
  rows_.add({{1, offload}, {-1, stays(stage, id)}, {-1, made(stage, id)}}, 0);
  for (const Fetch& fetch : fetches(stage, id)) {
    rows_.add({{1, fetch.cell}, {-1, runs(stage, fetch.op)}}, 0);
    rows_.add({{1, fetch.cell}, {-1, copy}, {-1, offload}}, 0);
    if (fetch.reads == kZero) rows_.add({{1, fetch.cell}, {-1, stays(stage + 1, id)}}, 0);
  }
  if (stage > problem_[id].appears && problem_[id].change_of != kNoValue) add_changes(stage, id);
}

// A storage that is brought back by its recipe loses its copy when it is changed.
void PoetModel::add_changes(Stage stage, ValueId id) {
  for (std::uint32_t i = 0; i <= index(id); ++i) {
    const Value& version = problem_.values[i];
    if (version.storage != problem_[id].storage || version.change_of == kNoValue) continue;
    const Cell run = runs(stage, version.maker), offload = offloads(stage, id);
    rows_.add({{1, copied(stage + 1, id)}, {1, run}, {-1, offload}}, 1);
    for (const Fetch& fetch : fetches(stage, id))
      rows_.add({{1, fetch.cell}, {1, run}, {-1, offload}}, 1);
  }
}

// When a storage comes back its views do not: they are made again, if they can be by then.
void PoetModel::add_views(Stage stage, ValueId view) {
  const Value& value = problem_[view];
  const auto add = [&](Cell reads, std::uint32_t reader) {
    for (const Fetch& fetch : fetches(stage, value.view_of)) {
      if (fetch.op > reader) continue;
      const bool again = fetch.op <= value.maker && stage <= value.last_remake;
      rows_.add({{1, reads}, {1, fetch.cell}, {-1, again ? runs(stage, value.maker) : kZero}}, 1);
    }
  };
  for (std::uint32_t user : value.users) add(runs(stage, user), user);
  add(stays(stage + 1, view), kNobody);
  if (value.held_in(stage)) add(kOne, kNobody);
}

// Copies are counted for all of the stages in which they are made or kept.
void PoetModel::add_tier(Stage stage) {
  if (!problem_.tier) return;
  std::vector<Term> row;
  for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
    const double size = static_cast<double>(problem_.values[i].size.n) / bytes_;
    row.push_back({size, copied(stage, ValueId{i})});
    row.push_back({size, offloads(stage, ValueId{i})});
  }
  rows_.add(row, most_copies_);
}

// What is held is there until the stage's own op has run, if it has no copy.
Cell PoetModel::need_at_end(Stage stage, ValueId id) {
  const Value& value = problem_[id];
  const Cell next = stays(stage + 1, id);
  if (!value.held_in(stage)) return next;
  const Cell copy = copied(stage, id), offload = offloads(stage, id);
  if (held_on_device(problem_, id, stage) || (copy == kZero && offload == kZero)) return kOne;
  const Cell need = rows_.add_amount();
  rows_.add({{1, next}, {-1, need}}, 0);
  rows_.add({{-1, need}, {-1, copy}, {-1, offload}}, -1);
  if (value.change_of != kNoValue && value.appears < stage)  // made again, it loses its copy
    rows_.add({{1, runs(stage, value.maker)}, {-1, need}, {-1, offload}}, 0);
  return need;
}

PoetModel::Course PoetModel::course_of(Stage stage, ValueId id) {
  const Value& value = problem_[id];
  if (may_be_copied(stage, id)) return course_with_copies(stage, id);
  Course course{.before = {stays(stage, id)}};
  for (std::uint32_t user : value.users)
    if (runs(stage, user) != kZero) course.ops.push_back(user);
  course.at.resize(course.ops.size());
  course.gaps.resize(course.ops.size() + 1);
  // Made beside others it may have been there before: then both do not add up.
  const bool adds_up = value.maker == kNobody || problem_.ops[value.maker].outputs.size() == 1;
  Cell now = need_at_end(stage, id);
  for (std::size_t i = course.ops.size(); i > 0; --i) {
    course.gaps[i] = {now};
    if (i > 1 || !adds_up) now = rows_.larger(now, runs(stage, course.ops[i - 1]));
    course.at[i - 1] = {now};
  }
  course.gaps[0] = {now};
  if (adds_up) course.gaps[0] = {stays(stage, id), made(stage, id)};
  if (!course.at.empty()) course.at[0] = course.gaps[0];
  return course;
}

// Backwards: it is there before an op if it is there with it and does not come back for it. What
// is there from the beginning has stayed or is made.
PoetModel::Course PoetModel::course_with_copies(Stage stage, ValueId id) {
  const Value& value = problem_[id];
  const Cell stay = stays(stage, id), copy = copied(stage, id), offload = offloads(stage, id);
  const std::vector<Fetch>& back = fetches(stage, id);
  Course course{.at = std::vector<Amount>(back.size()),
                .gaps = std::vector<Amount>(back.size() + 1)};
  for (const Fetch& fetch : back) course.ops.push_back(fetch.op);
  Cell now = need_at_end(stage, id);
  for (std::size_t i = back.size(); i > 0; --i) {
    course.gaps[i] = {now};
    const Cell at = rows_.larger(now, back[i - 1].reads);
    course.at[i - 1] = {at};
    now = rows_.add_amount();
    rows_.add({{1, at}, {-1, now}, {-1, back[i - 1].cell}}, 0);
  }
  course.gaps[0] = {now};
  rows_.add({{1, now}, {-1, stay}, {-1, made(stage, id)}}, 0);
  if (value.maker == kNobody) return course;
  // Before its turn to be made: only what goes with a copy can go and be there later.
  const Cell before = rows_.add_amount();
  rows_.add({{1, now}, {-1, made(stage, id)}, {-1, before}}, 0);
  rows_.add({{1, stay}, {-1, copy}, {-1, offload}, {-1, before}}, 0);
  course.before = {before};
  return course;
}

PoetModel::Amount PoetModel::amount_at(Stage stage, ValueId id, const Course& course,
                                       std::uint32_t op) const {
  const Value& value = problem_[id];
  if (value.maker != kNobody && value.maker > op) return course.before;
  if (value.maker == op) {
    Amount amount = course.before;
    // Also what is made beside others and not wanted takes its bytes for a moment.
    if (value.change_of == kNoValue) amount.push_back(runs(stage, op));
    return amount;
  }
  const auto next = std::ranges::lower_bound(course.ops, op);
  const auto place = static_cast<std::size_t>(next - course.ops.begin());
  return next != course.ops.end() && *next == op ? course.at[place] : course.gaps[place];
}

// While each op runs, what it reads and makes and all that is there beside fits.
void PoetModel::add_memory(Stage stage) {
  std::vector<Course> courses(problem_.values.size());
  for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
    const Value& value = problem_.values[i];
    if (value.view_of == kNoValue && value.appears <= stage)
      courses[i] = course_of(stage, ValueId{i});
  }
  if (problem_.tier) add_arrivals(stage, courses);
  for (std::uint32_t op = 0; op <= stage; ++op) {
    const bool at_end = op == problem_.end();
    if (!at_end && runs(stage, op) == kZero) continue;
    std::vector<Term> row;
    if (!at_end)
      row.push_back({static_cast<double>(problem_.ops[op].scratch.n) / bytes_, runs(stage, op)});
    for (std::uint32_t i = 0; i < courses.size(); ++i) {
      if (courses[i].gaps.empty() || problem_.values[i].size.n == 0) continue;
      for (Cell cell : amount_at(stage, ValueId{i}, courses[i], op))
        row.push_back({static_cast<double>(problem_.values[i].size.n) / bytes_, cell});
    }
    rows_.add(row, most_bytes_);
  }
}

// Constants come one after another, and may go to the tier as they come.
void PoetModel::add_arrivals(Stage stage, const std::vector<Course>& courses) {
  std::vector<Term> row;
  const auto size = [&](std::uint32_t i) {
    return static_cast<double>(problem_.values[i].size.n) / bytes_;
  };
  const auto comes = [&](std::uint32_t i) {
    return problem_.values[i].maker == kNobody && problem_.values[i].appears == stage;
  };
  const auto add = [&](std::uint32_t i, const Amount& amount) {
    for (Cell cell : amount) row.push_back({size(i), cell});
  };
  for (std::uint32_t i = 0; i < courses.size(); ++i) {
    if (courses[i].gaps.empty() || comes(i) || problem_.values[i].appears == stage) continue;
    add(i, problem_.values[i].maker == kNobody ? courses[i].gaps[0] : courses[i].before);
  }
  for (std::uint32_t i = 0; i < courses.size(); ++i) {
    if (!comes(i)) continue;
    std::vector<Term> now = row;
    now.push_back({size(i), kOne});
    rows_.add(now, most_bytes_);
    add(i, courses[i].gaps[0]);
  }
}

}  // namespace weir::plan
