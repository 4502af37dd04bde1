#include "plan/naive_devices.h"

#include <algorithm>
#include <vector>

#include "base/rng.h"

namespace weir::plan::test {
namespace {

constexpr std::int64_t kNever = INT64_MAX;

// What is where: value v on device d is bit 2v+d.
using Set = std::uint32_t;
// The least cost to have come to each set.
using Costs = std::vector<std::int64_t>;

class Search {
 public:
  Search(const Problem& problem, const Devices& devices)
      : problem_{problem}, devices_{devices}, sets_{Set{1} << (2 * problem.values.size())} {}

  std::optional<Nanos> run(Order order) {
    Costs costs(sets_, kNever);
    costs[0] = 0;
    for (stage_ = 0; stage_ <= problem_.end(); ++stage_) {
      evict(costs);
      costs = arrived(costs);
      if (order == Order::Staged)
        run_turns(costs);
      else
        run_any(costs);
    }
    const std::int64_t best = *std::ranges::min_element(costs);
    return best == kNever ? std::nullopt : std::optional{Nanos{best}};
  }

 private:
  static Set bit(ValueId value, std::uint32_t device) {
    return Set{1} << (2 * index(value) + device);
  }
  static Set anywhere(ValueId value) { return bit(value, 0) | bit(value, 1); }

  static void reach(Costs& costs, Set set, std::int64_t cost) {
    costs[set] = std::min(costs[set], cost);
  }

  [[nodiscard]] Bytes bytes(Set set, std::uint32_t device) const {
    Bytes sum;
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if ((set & bit(ValueId{i}, device)) != 0) sum += problem_.values[i].size;
    return sum;
  }
  [[nodiscard]] bool fits(Set set) const {
    return bytes(set, 0) <= devices_.all[0].budget && bytes(set, 1) <= devices_.all[1].budget;
  }

  [[nodiscard]] Costs arrived(const Costs& costs) const {
    Set come = 0;
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].maker == kNobody && problem_.values[i].appears == stage_)
        come |= bit(ValueId{i}, 0);
    Costs result(sets_, kNever);
    for (Set set = 0; set < sets_; ++set)
      if (costs[set] != kNever && fits(set | come)) reach(result, set | come, costs[set]);
    return result;
  }

  [[nodiscard]] bool must_stay(ValueId id) const {
    const Value& value = problem_[id];
    const bool was_held = stage_ > 0 && value.held_in(stage_ - 1);
    return value.held_in(stage_) && (was_held || value.maker == kNobody);
  }

  [[nodiscard]] bool all_held(Set set) const {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].held_in(stage_) && (set & anywhere(ValueId{i})) == 0) return false;
    return true;
  }

  // Sets that have less are smaller numbers, and sets that have more larger ones.
  void evict(Costs& costs) const {
    for (Set set = sets_; set-- > 0;) {
      if (costs[set] == kNever) continue;
      for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
        for (std::uint32_t device = 0; device < 2; ++device) {
          const Set less = set & ~bit(ValueId{i}, device);
          const bool gone = less != set && (less & anywhere(ValueId{i})) == 0;
          if (!gone || !must_stay(ValueId{i})) reach(costs, less, costs[set]);
        }
      }
    }
  }

  void copy(Costs& costs) const {
    for (Set set = 0; set < sets_; ++set) {
      if (costs[set] == kNever) continue;
      for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
        for (std::uint32_t to = 0; to < 2; ++to) {
          const auto& lane = devices_.lane(DeviceId{1 - to}, DeviceId{to});
          const Set more = set | bit(ValueId{i}, to);
          if (!lane || more == set || (set & bit(ValueId{i}, 1 - to)) == 0 || !fits(more)) continue;
          reach(costs, more, costs[set] + transfer_time(problem_.values[i].size, *lane).n);
        }
      }
    }
  }

  void run_turns(Costs& costs) const {
    for (std::uint32_t op = 0; op <= stage_ && op < problem_.end(); ++op) {
      evict(costs);
      copy(costs);
      evict(costs);
      if (op == stage_) {
        costs = after_own_op(costs);
        return;
      }
      const Costs skipped = costs, first = after(skipped, op, 0);
      merge(costs, first);
      merge(costs, after(skipped, op, 1));
      merge(costs, after(first, op, 1));
    }
    evict(costs);
    keep_held(costs);
  }

  // Ops run again whenever and wherever, until nothing gets better.
  void run_any(Costs& costs) const {
    for (Costs last; last != costs;) {
      last = costs;
      evict(costs);
      copy(costs);
      for (std::uint32_t op = 0; op < stage_ && op < problem_.end(); ++op)
        for (std::uint32_t device = 0; device < 2; ++device) merge(costs, after(costs, op, device));
    }
    if (stage_ < problem_.end())
      costs = after_own_op(costs);
    else
      keep_held(costs);
  }

  [[nodiscard]] Costs after_own_op(Costs costs) const {
    keep_held(costs);
    Costs result = after(costs, stage_, 0);
    merge(result, after(costs, stage_, 1));
    return result;
  }

  void keep_held(Costs& costs) const {
    for (Set set = 0; set < sets_; ++set)
      if (!all_held(set)) costs[set] = kNever;
  }

  static void merge(Costs& costs, const Costs& others) {
    for (Set set = 0; set < costs.size(); ++set) reach(costs, set, others[set]);
  }

  [[nodiscard]] Costs after(const Costs& costs, std::uint32_t number, std::uint32_t device) const {
    const ProblemOp& op = problem_.ops[number];
    Costs result(sets_, kNever);
    for (Set set = 0; set < sets_; ++set) {
      if (costs[set] == kNever) continue;
      Bytes need = bytes(set, device) + op.scratch;
      bool has_all = true;
      for (ValueId input : op.inputs) has_all = has_all && (set & bit(input, device)) != 0;
      for (ValueId output : op.outputs) need += problem_[output].size;
      if (!has_all || need > devices_.all[device].budget) continue;
      Set more = set;
      for (ValueId output : op.outputs)
        if (number == stage_ || stage_ <= problem_[output].last_remake) more |= bit(output, device);
      reach(result, more, costs[set] + devices_.all[device].costs[number].n);
    }
    return result;
  }

  const Problem& problem_;
  const Devices& devices_;
  Set sets_;
  Stage stage_ = 0;
};

}  // namespace

std::optional<Nanos> naive_optimum_on_two(const Problem& problem, const Devices& devices,
                                          Order order) {
  return Search{problem, devices}.run(order);
}

Devices random_devices(const Problem& problem, std::uint64_t seed) {
  base::Rng rng{seed + 1'000'000};
  const auto below = [&](std::uint64_t most) { return static_cast<std::int64_t>(rng.below(most)); };
  Devices devices{.all = {}, .lanes = std::vector<std::optional<Lane>>(4)};
  const std::int64_t floor = floor_of(problem).budget.n;
  for (const char* name : {"one", "two"}) {
    DeviceSpec device{name, {std::max<std::int64_t>(1, floor - 2 + below(6))}, {}};
    for (std::size_t op = 0; op < problem.ops.size(); ++op) device.costs.push_back({below(9)});
    devices.all.push_back(std::move(device));
  }
  for (const std::size_t lane : {1u, 2u})
    if (rng.chance(9, 10))
      devices.lanes[lane] = Lane{{below(2)}, 1 / static_cast<double>(1 + below(3))};
  return devices;
}

}  // namespace weir::plan::test
