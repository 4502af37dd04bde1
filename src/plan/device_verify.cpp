#include "plan/device_verify.h"

#include <algorithm>

#include <fmt/format.h>

namespace weir::plan {
namespace {

struct Broken {
  std::string rule;
};

class Machine {
 public:
  Machine(const Problem& problem, const Devices& devices)
      : problem_{problem},
        devices_{devices},
        values_(problem.storages.size(), kNoValue),
        there_(devices.count(), std::vector<bool>(problem.storages.size())),
        used_(devices.count()),
        peaks_(devices.count()) {
    for (std::uint32_t i = 0; i < problem.values.size(); ++i)
      values_[index(problem.values[i].storage)] = ValueId{i};
  }

  void carry_out(const DeviceAction& action) {
    if (index(action.device) >= devices_.count() || index(action.from) >= devices_.count())
      throw Broken{"there is no such device"};
    if (action.move == DeviceMove::Compute) return compute(action.item, action.device);
    if (action.item >= values_.size() || values_[action.item] == kNoValue)
      throw Broken{fmt::format("there is no storage {}", action.item)};
    if (action.move == DeviceMove::Evict) return evict(action.item, action.device);
    copy(action.item, action.from, action.device);
  }

  void finish() {
    constants_arrive();
    if (next_ != problem_.end())
      throw Broken{fmt::format("{} never runs", place_of(problem_, next_))};
    check_held();
  }

  void report(DeviceVerdict& verdict) const {
    verdict.cost = cost_;
    verdict.peaks = peaks_;
  }

 private:
  [[nodiscard]] const Value& value_in(std::uint32_t storage) const {
    return problem_[values_[storage]];
  }
  [[nodiscard]] const std::string& name(DeviceId device) const { return devices_[device].name; }
  [[nodiscard]] bool is_there(std::uint32_t storage, DeviceId device) const {
    return there_[index(device)][storage];
  }
  [[nodiscard]] bool is_somewhere(std::uint32_t storage) const {
    return std::ranges::any_of(there_, [&](const auto& device) { return device[storage]; });
  }
  [[nodiscard]] bool comes_now(const Value& value) const {
    return value.maker == kNobody && value.appears == next_;
  }

  void take(Bytes bytes, DeviceId device) {
    Bytes& used = used_[index(device)];
    used += bytes;
    peaks_[index(device)] = std::max(peaks_[index(device)], used);
    if (used > devices_[device].budget)
      throw Broken{fmt::format("the bytes on {} at {} need {} B, {} B more than its budget",
                               name(device), place_of(problem_, next_), used.n,
                               (used - devices_[device].budget).n)};
  }

  void put(std::uint32_t storage, DeviceId device) {
    take(problem_.storages[storage], device);
    there_[index(device)][storage] = true;
  }

  // After what goes before anything else happens in a stage.
  void constants_arrive() {
    if (arrived_) return;
    arrived_ = true;
    for (const Value& value : problem_.values)
      if (comes_now(value)) put(index(value.storage), DeviceId{0});
  }

  void check_held() const {
    for (const Value& value : problem_.values)
      if (value.held_in(next_) && !is_somewhere(index(value.storage)))
        throw Broken{fmt::format("storage {} must be somewhere at {} and is not",
                                 index(value.storage), place_of(problem_, next_))};
  }

  void compute(std::uint32_t number, DeviceId device) {
    constants_arrive();
    if (number >= problem_.ops.size()) throw Broken{fmt::format("there is no op {}", number)};
    if (number > next_)
      throw Broken{fmt::format("{} runs before {} has", place_of(problem_, number),
                               place_of(problem_, next_))};
    const ProblemOp& op = problem_.ops[number];
    const bool first = number == next_;
    if (first) check_held();
    Bytes made = op.scratch;
    for (ValueId input : op.inputs)
      if (!is_there(index(problem_[input].storage), device))
        throw Broken{fmt::format("{} runs on {} and reads storage {}, which is not there",
                                 place_of(problem_, number), name(device),
                                 index(problem_[input].storage))};
    for (ValueId output : op.outputs) made += problem_[output].size;
    take(made, device);
    used_[index(device)] -= made;  // scratch goes, and each output that is wanted takes its own
    cost_ += devices_[device].costs[number];
    for (ValueId output : op.outputs) adopt(problem_[output], device, first);
    if (!first) return;
    ++next_;
    arrived_ = false;
  }

  // What is there already or cannot be made again is not taken.
  void adopt(const Value& value, DeviceId device, bool first) {
    if (!is_there(index(value.storage), device) && (first || next_ <= value.last_remake))
      put(index(value.storage), device);
  }

  void copy(std::uint32_t storage, DeviceId from, DeviceId to) {
    constants_arrive();
    if (!is_there(storage, from))
      throw Broken{
          fmt::format("storage {} is copied from {} and is not there", storage, name(from))};
    if (is_there(storage, to))
      throw Broken{fmt::format("storage {} is copied to {} and is there", storage, name(to))};
    const std::optional<Lane>& lane = devices_.lane(from, to);
    if (!lane)
      throw Broken{fmt::format("nothing can be copied from {} to {}", name(from), name(to))};
    put(storage, to);
    cost_ += transfer_time(problem_.storages[storage], *lane);
  }

  void evict(std::uint32_t storage, DeviceId device) {
    const Value& value = value_in(storage);
    if (comes_now(value)) constants_arrive();
    if (!is_there(storage, device))
      throw Broken{
          fmt::format("storage {} is evicted from {} and not there", storage, name(device))};
    there_[index(device)][storage] = false;
    used_[index(device)] -= problem_.storages[storage];
    const bool was_held = next_ > 0 && value.held_in(next_ - 1);
    if (value.held_in(next_) && (was_held || value.maker == kNobody) && !is_somewhere(storage))
      throw Broken{fmt::format("storage {} is evicted before {} and must stay somewhere", storage,
                               place_of(problem_, next_))};
  }

  const Problem& problem_;
  const Devices& devices_;
  std::vector<ValueId> values_;           // by storage
  std::vector<std::vector<bool>> there_;  // by device and storage
  std::vector<Bytes> used_, peaks_;       // by device
  std::uint32_t next_ = 0;                // the op that has not run yet
  bool arrived_ = false;                  // the constants of its stage have
  Nanos cost_;
};

}  // namespace

DeviceVerdict verify(const Problem& problem, const Devices& devices,
                     const DeviceSchedule& schedule) {
  DeviceVerdict verdict;
  if ((verdict.violation = first_difference(problem, schedule.ops))) return verdict;
  Machine machine{problem, devices};
  try {
    for (; verdict.at < schedule.actions.size(); ++verdict.at)
      machine.carry_out(schedule.actions[verdict.at]);
    machine.finish();
  } catch (const Broken& broken) {
    verdict.violation = broken.rule;
  }
  machine.report(verdict);
  return verdict;
}

}  // namespace weir::plan
