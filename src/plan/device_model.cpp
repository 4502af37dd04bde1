#include "plan/device_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/bounds.h"
#include "plan/reductions.h"
#include "weir/errors.h"

namespace weir::plan {
namespace {

// Turns of all stages, values and pairs of devices may come to this much.
constexpr std::size_t kMostCells = 500'000;

void refuse_giants(const Problem& problem, const Devices& devices) {
  const std::size_t turns = problem.ops.size() * (problem.ops.size() + 1) / 2;
  const std::size_t cells = turns * problem.values.size() * devices.count() * devices.count();
  if (cells <= kMostCells) return;
  throw BadInput(
      fmt::format("{}: {} ops are too many for a solver with {} devices; use another method",
                  problem.source, problem.ops.size(), devices.count()));
}

std::vector<std::int64_t> costs_in(const Problem& problem, const Devices& devices) {
  std::vector<std::int64_t> costs;
  for (const DeviceSpec& device : devices.all)
    for (Nanos cost : device.costs) costs.push_back(cost.n);
  for (const Value& value : problem.values)
    for (const std::optional<Lane>& lane : devices.lanes)
      if (lane) costs.push_back(transfer_time(value.size, *lane).n);
  return costs;
}

std::int64_t step_of_sizes(const Problem& problem) {
  std::vector<std::int64_t> sizes;
  for (const Value& value : problem.values) sizes.push_back(value.size.n);
  for (const ProblemOp& op : problem.ops) sizes.push_back(op.scratch.n);
  return common_divisor(sizes);
}

}  // namespace

DeviceModel::DeviceModel(const Problem& problem, const Devices& devices, Aim aim)
    : problem_{problem}, devices_{devices}, last_use_{last_uses(problem)} {
  refuse_giants(problem, devices);
  set_units(aim);
  turns_.resize(problem.end() + 1);
  for (Stage stage = 0; stage <= problem.end() + 1; ++stage) {
    begins_.push_back(new_places([&](ValueId value) { return may_stay(stage, value); }));
    if (stage > problem.end()) break;
    for (std::uint32_t op = 0; op <= stage && op < problem.end(); ++op)
      turns_[stage].push_back(new_turn(stage, op));
  }
  for (Stage stage = 0; stage <= problem.end(); ++stage) add_stage(stage);
}

// Sizes are multiples of their common divisor, so half of one more changes nothing but keeps rows
// away from the solver's tolerance.
void DeviceModel::set_units(Aim aim) {
  const std::int64_t step = step_of_sizes(problem_);
  for (const DeviceSpec& device : devices_.all)
    most_bytes_.push_back(static_cast<double>(device.budget.n / step * step) +
                          static_cast<double>(step) / 2);
  if (aim == Aim::LeastShare)
    share_ = rows_.add_column(1, 0, kNoLimit, false);
  else
    unit_ = static_cast<double>(common_divisor(costs_in(problem_, devices_)));
}

double DeviceModel::scaled(Nanos cost) const {
  return share_ == kZero ? static_cast<double>(cost.n) / unit_ : 0;
}

// After the last stage: what is held at the end.
bool DeviceModel::may_stay(Stage stage, ValueId id) const {
  const Value& value = problem_[id];
  if (stage > problem_.end()) return value.held_in(problem_.end());
  return value.appears < stage && stage <= value.end() && stage <= last_use_[index(id)];
}

bool DeviceModel::may_be_there(Stage stage, ValueId id) const {
  const Value& value = problem_[id];
  return may_stay(stage, id) || (value.maker == kNobody && value.appears == stage);
}

template <typename Condition>
Places<Cell> DeviceModel::new_places(const Condition& may_be) {
  Places<Cell> places{problem_.values.size(), devices_.count(), kZero};
  for_each_value([&](ValueId value) {
    if (may_be(value))
      for_each_device([&](DeviceId device) { places.set(value, device, rows_.add_choice(0)); });
  });
  return places;
}

DeviceModel::Cells DeviceModel::new_turn(Stage stage, std::uint32_t op) {
  const auto may_be = [&](ValueId value) { return may_be_there(stage, value); };
  Cells turn{{.copied = new_places(may_be), .there = new_places(may_be), .runs = {}}};
  const bool worth = op == stage || worth_running(stage, op);
  for_each_device([&](DeviceId device) {
    const double cost = scaled(devices_[device].costs[op]);
    turn.runs.push_back(worth ? rows_.add_choice(cost) : kZero);
  });
  turn.copies = new_copies(stage);
  return turn;
}

std::vector<DeviceModel::Copy> DeviceModel::new_copies(Stage stage) {
  std::vector<Copy> copies;
  for_each_value([&](ValueId value) {
    if (!may_be_there(stage, value)) return;
    for_each_device([&](DeviceId from) {
      for_each_device([&](DeviceId to) {
        const std::optional<Lane>& lane = devices_.lane(from, to);
        if (from == to || !lane) return;
        const Nanos time = transfer_time(problem_[value].size, *lane);
        copies.push_back({value, from, to, rows_.add_choice(scaled(time))});
      });
    });
  });
  return copies;
}

bool DeviceModel::worth_running(Stage stage, std::uint32_t op) const {
  return std::ranges::any_of(problem_.ops[op].outputs, [&](ValueId output) {
    return stage <= problem_[output].last_remake && stage <= last_use_[index(output)];
  });
}

std::vector<Cell> DeviceModel::before(Stage stage, std::uint32_t op, ValueId id,
                                      DeviceId device) const {
  const Value& value = problem_[id];
  if (op > 0) {
    const Cells& last = turns_[stage][op - 1];
    const bool makes = value.maker == op - 1 && stage <= std::max(op - 1, value.last_remake);
    return {last.there.at(id, device), makes ? last.runs[index(device)] : kZero};
  }
  const bool comes = value.maker == kNobody && value.appears == stage && device == DeviceId{0};
  return {comes ? kOne : begins_[stage].at(id, device)};
}

void DeviceModel::add_stage(Stage stage) {
  add_arrivals(stage);
  const auto turns = static_cast<std::uint32_t>(turns_[stage].size());
  for (std::uint32_t op = 0; op < turns; ++op) add_turn(stage, op);
  for_each_value([&](ValueId value) {
    if (problem_[value].held_in(stage)) add_held(stage, value);
    for_each_device([&](DeviceId device) {
      std::vector<Term> row{{1, begins_[stage + 1].at(value, device)}};
      for (Cell cell : before(stage, turns, value, device)) row.push_back({-1, cell});
      rows_.add(row, 0);
    });
  });
}

// The stage's own op runs on one device; each op finds what it reads where it runs.
void DeviceModel::add_turn(Stage stage, std::uint32_t op) {
  const Cells& turn = turns_[stage][op];
  std::vector<Term> once, at_least_once;
  for_each_device([&](DeviceId device) {
    const Cell run = turn.runs[index(device)];
    once.push_back({1, run});
    at_least_once.push_back({-1, run});
    for (ValueId input : problem_.ops[op].inputs)
      rows_.add({{1, run}, {-1, turn.there.at(input, device)}}, 0);
    for_each_value([&](ValueId value) { add_presence(stage, op, value, device); });
    add_memory(stage, op, device);
  });
  if (op == stage) {
    rows_.add(once, 1);
    rows_.add(at_least_once, -1);
  }
  add_copies(stage, op);
}

void DeviceModel::add_presence(Stage stage, std::uint32_t op, ValueId value, DeviceId device) {
  const Cells& turn = turns_[stage][op];
  const Cell copied = turn.copied.at(value, device);
  rows_.add({{1, turn.there.at(value, device)}, {-1, copied}}, 0);
  std::vector<Term> row{{1, copied}};
  for (Cell cell : before(stage, op, value, device)) row.push_back({-1, cell});
  for (const Copy& copy : turn.copies)
    if (copy.value == value && copy.to == device) row.push_back({-1, copy.cell});
  rows_.add(row, 0);
}

// A copy is of what is there, and stays until it has been made.
void DeviceModel::add_copies(Stage stage, std::uint32_t op) {
  const Cells& turn = turns_[stage][op];
  for (const Copy& copy : turn.copies) {
    rows_.add({{1, copy.cell}, {-1, turn.copied.at(copy.value, copy.from)}}, 0);
    std::vector<Term> row{{1, copy.cell}};
    for (Cell cell : before(stage, op, copy.value, copy.from)) row.push_back({-1, cell});
    rows_.add(row, 0);
  }
}

void DeviceModel::add_somewhere(const Places<Cell>& places, ValueId value) {
  std::vector<Term> row;
  for_each_device([&](DeviceId device) { row.push_back({-1, places.at(value, device)}); });
  rows_.add(row, -1);
}

// What is held is somewhere when the stage's own op runs; if it was held before, all the time.
void DeviceModel::add_held(Stage stage, ValueId id) {
  const Value& value = problem_[id];
  const std::vector<Cells>& turns = turns_[stage];
  const bool must_stay = value.maker == kNobody || (stage > 0 && value.held_in(stage - 1));
  if (must_stay && value.appears < stage) add_somewhere(begins_[stage], id);
  for (std::uint32_t op = 0; op < turns.size(); ++op) {
    if (must_stay || op == stage) add_somewhere(turns[op].there, id);
  }
  if (stage == problem_.end()) add_somewhere(begins_[stage + 1], id);
}

void DeviceModel::add_bytes(std::vector<Term>& row, const Places<Cell>& places,
                            DeviceId device) const {
  for_each_value([&](ValueId value) {
    row.push_back({static_cast<double>(problem_[value].size.n), places.at(value, device)});
  });
}

// What is there and what the copies bring fits; and so does what is there while the op runs.
void DeviceModel::add_memory(Stage stage, std::uint32_t op, DeviceId device) {
  const Cells& turn = turns_[stage][op];
  std::vector<Term> copied, there;
  add_bytes(copied, turn.copied, device);
  add_memory_row(std::move(copied), device);
  add_bytes(there, turn.there, device);
  Bytes made = problem_.ops[op].scratch;
  for (ValueId output : problem_.ops[op].outputs) made += problem_[output].size;
  there.push_back({static_cast<double>(made.n), turn.runs[index(device)]});
  add_memory_row(std::move(there), device);
}

void DeviceModel::add_arrivals(Stage stage) {
  std::vector<Term> row;
  for (const Value& value : problem_.values)
    if (value.maker == kNobody && value.appears == stage)
      row.push_back({static_cast<double>(value.size.n), kOne});
  if (row.empty()) return;
  add_bytes(row, begins_[stage], DeviceId{0});
  add_memory_row(std::move(row), DeviceId{0});
}

// Scaled so that the budget is a thousand.
void DeviceModel::add_memory_row(std::vector<Term> bytes, DeviceId device) {
  const double unit = std::max(1.0, static_cast<double>(devices_[device].budget.n)) / 1000;
  for (Term& term : bytes) term.factor /= unit;
  if (share_ == kZero) return rows_.add(bytes, most_bytes_[index(device)] / unit);
  bytes.push_back({-1000, share_});
  rows_.add(bytes, 0);
}

DeviceCourse DeviceModel::course_in(const std::vector<double>& solution) const {
  const auto chosen = [&](const Places<Cell>& places) {
    Places<bool> result{problem_.values.size(), devices_.count(), false};
    for_each_value([&](ValueId value) {
      for_each_device([&](DeviceId device) {
        result.set(value, device, is_set(solution, places.at(value, device)));
      });
    });
    return result;
  };
  DeviceCourse course{.begins = {}, .turns = std::vector<std::vector<Turn<bool>>>(turns_.size())};
  for (const Places<Cell>& begin : begins_) course.begins.push_back(chosen(begin));
  for (Stage stage = 0; stage < turns_.size(); ++stage) {
    for (const Cells& turn : turns_[stage]) {
      std::vector<bool> runs;
      for (Cell run : turn.runs) runs.push_back(is_set(solution, run));
      course.turns[stage].push_back({chosen(turn.copied), chosen(turn.there), std::move(runs)});
    }
  }
  return course;
}

}  // namespace weir::plan
