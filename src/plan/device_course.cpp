#include "plan/device_course.h"

#include <algorithm>
#include <optional>

namespace weir::plan {
namespace {

class Walk {
 public:
  Walk(const Problem& problem, const Devices& devices)
      : problem_{problem},
        devices_{devices},
        there_{problem.values.size(), devices.count(), false},
        used_(devices.count()) {
    plan_.schedule.ops = problem.signatures;
    plan_.peaks.resize(devices.count());
  }

  DevicePlan along(const DeviceCourse& course) && {
    for (Stage stage = 0; stage <= problem_.end(); ++stage) {
      evict_unless(course.begins[stage]);
      constants_arrive(stage);
      for (std::uint32_t op = 0; op < course.turns[stage].size(); ++op)
        take_turn(stage, op, course.turns[stage][op]);
    }
    evict_unless(course.begins[problem_.end() + 1]);
    return std::move(plan_);
  }

 private:
  void take_turn(Stage stage, std::uint32_t op, const Turn<bool>& turn) {
    evict_unless(turn.copied);
    const Places<bool> before = there_;
    for_each_place([&](ValueId value, DeviceId device) {
      if (turn.copied.at(value, device) && !before.at(value, device)) copy(value, device, before);
    });
    evict_unless(turn.there);
    for (std::uint32_t device = 0; device < devices_.count(); ++device)
      if (turn.runs[device]) compute(stage, op, DeviceId{device});
  }

  template <typename Do>
  void for_each_place(const Do& what) const {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      for (std::uint32_t device = 0; device < devices_.count(); ++device)
        what(ValueId{i}, DeviceId{device});
  }

  void note(DeviceMove move, std::uint32_t item, DeviceId device, DeviceId from = {}) {
    plan_.schedule.actions.push_back({move, item, device, from});
  }

  void take(Bytes bytes, DeviceId device) {
    used_[index(device)] += bytes;
    plan_.peaks[index(device)] = std::max(plan_.peaks[index(device)], used_[index(device)]);
  }

  void put(ValueId value, DeviceId device) {
    if (there_.at(value, device)) return;
    take(problem_[value].size, device);
    there_.set(value, device, true);
  }

  void evict_unless(const Places<bool>& wanted) {
    for_each_place([&](ValueId value, DeviceId device) {
      if (!there_.at(value, device) || wanted.at(value, device)) return;
      note(DeviceMove::Evict, index(problem_[value].storage), device);
      used_[index(device)] -= problem_[value].size;
      there_.set(value, device, false);
    });
  }

  void constants_arrive(Stage stage) {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].maker == kNobody && problem_.values[i].appears == stage)
        put(ValueId{i}, DeviceId{0});
  }

  void copy(ValueId value, DeviceId device, const Places<bool>& before) {
    std::optional<DeviceId> best;
    const auto time = [&](DeviceId from) {
      return transfer_time(problem_[value].size, *devices_.lane(from, device));
    };
    for (std::uint32_t i = 0; i < devices_.count(); ++i) {
      const DeviceId from{i};
      if (!before.at(value, from) || !devices_.lane(from, device)) continue;
      if (!best || time(from) < time(*best)) best = from;
    }
    if (!best) return;
    note(DeviceMove::Copy, index(problem_[value].storage), device, *best);
    plan_.cost += time(*best);
    put(value, device);
  }

  void compute(Stage stage, std::uint32_t number, DeviceId device) {
    const ProblemOp& op = problem_.ops[number];
    Bytes made = op.scratch;
    for (ValueId output : op.outputs) made += problem_[output].size;
    take(made, device);
    used_[index(device)] -= made;
    note(DeviceMove::Compute, number, device);
    plan_.cost += devices_[device].costs[number];
    for (ValueId output : op.outputs)
      if (stage <= std::max(number, problem_[output].last_remake)) put(output, device);
  }

  const Problem& problem_;
  const Devices& devices_;
  Places<bool> there_;
  std::vector<Bytes> used_;
  DevicePlan plan_;
};

}  // namespace

DevicePlan plan_of(const Problem& problem, const Devices& devices, const DeviceCourse& course) {
  return Walk{problem, devices}.along(course);
}

}  // namespace weir::plan
