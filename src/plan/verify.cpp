#include "plan/verify.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/units.h"

namespace weir::plan {
namespace {

struct Broken {
  std::string rule;
};

class Device {
 public:
  Device(const Problem& problem, Bytes budget)
      : problem_{problem},
        budget_{budget},
        there_(problem.values.size()),
        storages_(problem.storages.size()),
        next_{problem.start.first} {
    for (std::uint32_t i = 0; i < problem.values.size(); ++i)
      storages_[index(problem.values[i].storage)].values.push_back(i);
    for (ValueId value : problem.start.resident) appear(value);
    for (StorageId storage : problem.start.offloaded) back_up_at_start(storage);
    for (std::uint32_t i = 0; i < problem.values.size(); ++i) {
      const Value& value = problem.values[i];
      if (value.appears < next_ && value.held_in(next_)) appear(ValueId{i});
    }
  }

  // Before anything else.
  [[nodiscard]] bool may_begin_away(ScheduledMove move) const {
    return move.move == Move::Evict && problem_.tier && problem_.repeats &&
           problem_.start.first == 0 &&
           std::ranges::find(*problem_.repeats, StorageId{move.item}) != problem_.repeats->end();
  }

  void begin_away(std::uint32_t storage) {
    StorageState& s = storages_[storage];
    const auto comes =
        std::ranges::find_if(s.values, [&](std::uint32_t i) { return comes_now(i); });
    if (comes == s.values.end() || s.begins_away)
      throw Broken{fmt::format("storage {} is evicted and not there", storage)};
    s.begins_away = true;
    back_up(storage, ValueId{*comes});
  }

  void carry_out(ScheduledMove move) {
    if (move.move == Move::Compute) return compute(move.item);
    if (move.item >= storages_.size())
      throw Broken{fmt::format("there is no storage {}", move.item)};
    if (move.move == Move::Prefetch || move.move == Move::Fetch) constants_arrive();
    if (is_to_come(move.item)) constants_arrive(move.item);
    switch (move.move) {
      case Move::Compute:
        return;
      case Move::Evict:
        return evict(move.item);
      case Move::Offload:
        return offload(move.item);
      case Move::Prefetch:
        return begin_fetch(move.item);
      case Move::Fetch:
        begin_fetch(move.item);
        return wait_until(storages_[move.item].arrives);
      case Move::Forget:
        return forget(move.item);
    }
  }

  void finish() {
    constants_arrive();
    if (next_ != problem_.end())
      throw Broken{fmt::format("{} never runs", place_of(problem_, next_))};
    check_held();
    if (problem_.repeats) check_ends();
    for (const StorageState& s : storages_) {
      if (s.resident) wait_until(s.arrives);
      if (s.begins_away) wait_until(s.copied);
    }
  }

  void report(Verdict& verdict) const {
    verdict.cost = clock_;
    verdict.waited = waited_;
    verdict.peak = peak_;
    verdict.peak_op = peak_op_;
  }

 private:
  struct StorageState {
    std::vector<std::uint32_t> values;  // its versions and views
    bool resident = false;
    Nanos arrives;              // when the copy from the tier is done
    ValueId backup = kNoValue;  // what the tier has a copy of
    Nanos copied;               // when the copy to the tier is done
    bool begins_away = false;   // in the tier, where it has to end
  };

  [[nodiscard]] Bytes size(std::uint32_t storage) const { return problem_.storages[storage]; }

  void take(Bytes bytes, std::uint32_t op) {
    used_ += bytes;
    if (used_ > peak_) {
      peak_ = used_;
      peak_op_ = op;
    }
    if (used_ > budget_)
      throw Broken{fmt::format("{} need {} B, {} B more than the budget",
                               "the bytes at " + place_of(problem_, op), used_.n,
                               (used_ - budget_).n)};
  }

  // Its bytes have been taken, or are taken now if the storage has none.
  void appear(ValueId id) {
    const Value& value = problem_[id];
    StorageState& s = storages_[index(value.storage)];
    if (!s.resident && value.view_of == kNoValue) {
      s.resident = true;
      take(size(index(value.storage)), next_);
    }
    there_[index(id)] = true;
  }

  void back_up_at_start(StorageId storage) {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      const Value& value = problem_.values[i];
      const bool current = value.appears < next_ && value.changed_by >= next_;
      if (value.storage == storage && value.view_of == kNoValue && current)
        storages_[index(storage)].backup = ValueId{i};
    }
    copies_ += size(index(storage));
  }

  [[nodiscard]] bool comes_now(std::uint32_t value) const {
    const Value& comes = problem_.values[value];
    return comes.maker == kNobody && comes.appears == next_ &&
           !storages_[index(comes.storage)].begins_away;
  }

  [[nodiscard]] bool is_to_come(std::uint32_t storage) const {
    return std::ranges::any_of(storages_[storage].values,
                               [&](std::uint32_t i) { return i >= to_come_ && comes_now(i); });
  }

  // Those of a stage, after what the program lets go of first: one after another, up to that of the
  // storage that a move is about.
  void constants_arrive(std::optional<std::uint32_t> last = {}) {
    for (; to_come_ < problem_.values.size() && (!last || is_to_come(*last)); ++to_come_)
      if (comes_now(to_come_)) appear(ValueId{to_come_});
  }

  // On the device, or in the tier; a view comes back by its op only.
  [[nodiscard]] bool is_somewhere(std::uint32_t value) const {
    const ValueId backup = storages_[index(problem_.values[value].storage)].backup;
    return there_[value] || backup == ValueId{value};
  }

  void wait_until(Nanos time) {
    if (time <= clock_) return;
    waited_ += time - clock_;
    clock_ = time;
  }

  // What was not held before may still be made again.
  [[nodiscard]] bool must_stay(const Value& value) const {
    const bool was_held = next_ > 0 && value.held_in(next_ - 1);
    return value.held_in(next_) && (was_held || value.maker == kNobody);
  }

  void check_held() const {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].held_in(next_) && !is_somewhere(i))
        throw Broken{fmt::format("storage {} must be there at {} and is not",
                                 index(problem_.values[i].storage), place_of(problem_, next_))};
  }

  void check_ends() const {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      const Value& value = problem_.values[i];
      if (!value.held_in(next_) || value.view_of != kNoValue) continue;
      const StorageState& s = storages_[index(value.storage)];
      if (s.begins_away ? s.backup != ValueId{i} : !there_[i])
        throw Broken{fmt::format("storage {} must end {}", index(value.storage),
                                 s.begins_away ? "in the tier, where it began" : "on the device")};
    }
  }

  void compute(std::uint32_t number) {
    constants_arrive();
    if (number >= problem_.ops.size()) throw Broken{fmt::format("there is no op {}", number)};
    if (number > next_)
      throw Broken{fmt::format("{} runs before {} has", place_of(problem_, number),
                               place_of(problem_, next_))};
    const bool first = number == next_;
    if (first) check_held();
    const ProblemOp& op = problem_.ops[number];
    read_inputs(op, number);
    const Bytes made = fresh_bytes(op) + op.scratch;
    take(made, number);
    clock_ += op.cost;
    used_ -= made;  // scratch goes, and each output that is wanted takes its own
    for (ValueId output : op.outputs) adopt(output, number, first);
    if (!first) return;
    ++next_;
    to_come_ = 0;
  }

  void read_inputs(const ProblemOp& op, std::uint32_t number) {
    for (ValueId input : op.inputs) {
      const std::uint32_t storage = index(problem_[input].storage);
      if (!there_[index(input)])
        throw Broken{fmt::format("{} reads storage {}, which is not there{}",
                                 place_of(problem_, number), storage,
                                 storages_[storage].resident ? " in that version" : "")};
      wait_until(storages_[storage].arrives);
    }
  }

  [[nodiscard]] Bytes fresh_bytes(const ProblemOp& op) const {
    Bytes sum;
    for (ValueId output : op.outputs)
      if (problem_[output].change_of == kNoValue) sum += problem_[output].size;
    return sum;
  }

  // What is there already, or was changed since, or cannot be made again, is not taken.
  void adopt(ValueId id, std::uint32_t op, bool first) {
    const Value& value = problem_[id];
    StorageState& s = storages_[index(value.storage)];
    if (value.change_of != kNoValue) {
      there_[index(value.change_of)] = false;
      there_[index(id)] = true;
      wait_until(s.copied);  // the copy must not see the change
      if (s.backup != kNoValue) forget_copy(index(value.storage));
      return;
    }
    const bool wanted = value.view_of != kNoValue ? s.resident : !s.resident;
    if (!first && (!wanted || next_ > value.last_remake)) return;
    if (value.view_of == kNoValue) {
      s.resident = true;
      s.arrives = {};
      take(size(index(value.storage)), op);
    }
    there_[index(id)] = true;
  }

  void evict(std::uint32_t storage) {
    StorageState& s = storages_[storage];
    if (!s.resident) throw Broken{fmt::format("storage {} is evicted and not there", storage)};
    for (std::uint32_t i : s.values) {
      const Value& value = problem_.values[i];
      if (!there_[i]) continue;
      if (must_stay(value) && s.backup != ValueId{i})
        throw Broken{fmt::format("storage {} is evicted before {} and must stay", storage,
                                 place_of(problem_, next_))};
      there_[i] = false;
    }
    wait_until(s.copied);
    wait_until(s.arrives);
    s.resident = false;
    used_ -= size(storage);
  }

  [[nodiscard]] ValueId content_of(std::uint32_t storage) const {
    for (std::uint32_t i : storages_[storage].values)
      if (there_[i] && problem_.values[i].view_of == kNoValue) return ValueId{i};
    return kNoValue;
  }

  void offload(std::uint32_t storage) {
    if (!problem_.tier) throw Broken{"something is offloaded and there is no tier"};
    StorageState& s = storages_[storage];
    const ValueId content = content_of(storage);
    if (content == kNoValue)
      throw Broken{fmt::format("storage {} is offloaded and not there", storage)};
    if (s.backup != kNoValue) forget_copy(storage);
    back_up(storage, content);
    const Nanos begin = std::max({clock_, writer_free_, s.arrives});
    s.copied = writer_free_ = begin + transfer_time(size(storage), problem_.tier->link.write);
  }

  void back_up(std::uint32_t storage, ValueId content) {
    copies_ += size(storage);
    if (copies_ > problem_.tier->capacity)
      throw Broken{fmt::format("the tier has no room for storage {}", storage)};
    storages_[storage].backup = content;
  }

  void forget(std::uint32_t storage) {
    const ValueId copy = storages_[storage].backup;
    if (copy == kNoValue)
      throw Broken{fmt::format("the copy of storage {} is forgotten and there is none", storage)};
    wait_until(storages_[storage].copied);
    forget_copy(storage);
    if (!there_[index(copy)] && must_stay(problem_[copy]))
      throw Broken{fmt::format("the copy of storage {} is forgotten before {} and must stay",
                               storage, place_of(problem_, next_))};
  }

  void forget_copy(std::uint32_t storage) {
    storages_[storage].backup = kNoValue;
    copies_ -= size(storage);
  }

  void begin_fetch(std::uint32_t storage) {
    StorageState& s = storages_[storage];
    if (s.resident) return;  // on its way
    if (!problem_.tier || s.backup == kNoValue)
      throw Broken{fmt::format("storage {} is fetched and the tier has no copy", storage)};
    take(size(storage), next_);
    s.resident = true;
    there_[index(s.backup)] = true;
    const Nanos begin = std::max({clock_, reader_free_, s.copied});
    s.arrives = reader_free_ = begin + transfer_time(size(storage), problem_.tier->link.read);
  }

  const Problem& problem_;
  Bytes budget_;
  std::vector<bool> there_;  // by value
  std::vector<StorageState> storages_;
  std::uint32_t next_;         // the op that has not run yet
  std::uint32_t to_come_ = 0;  // the first constant of the stage that is not there yet
  Bytes used_, peak_, copies_;
  std::uint32_t peak_op_ = 0;
  Nanos clock_, waited_, writer_free_, reader_free_;
};

}  // namespace

Verdict verify(const Problem& problem, const Schedule& schedule) {
  Verdict verdict;
  if ((verdict.violation = first_difference(problem, schedule.ops))) return verdict;
  if (schedule.first != problem.start.first) {
    verdict.violation = fmt::format("the schedule begins at op {} and the problem at op {}",
                                    schedule.first, problem.start.first);
    return verdict;
  }
  std::optional<Device> device;
  try {
    device.emplace(problem, schedule.budget);
    for (; verdict.at < schedule.moves.size(); ++verdict.at) {
      if (!device->may_begin_away(schedule.moves[verdict.at])) break;
      device->begin_away(schedule.moves[verdict.at].item);
    }
    for (; verdict.at < schedule.moves.size(); ++verdict.at)
      device->carry_out(schedule.moves[verdict.at]);
    device->finish();
  } catch (const Broken& broken) {
    verdict.violation = broken.rule;
  }
  if (device) device->report(verdict);
  return verdict;
}

}  // namespace weir::plan
