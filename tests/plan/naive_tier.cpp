#include <map>
#include <queue>
#include <vector>

#include "plan/naive.h"

namespace weir::plan::test {
namespace {

using Set = std::uint32_t;  // of values

// Of a stage: the last op is done; copies may be forgotten; constants come; ops run.
enum class Part { End, Gap, Arrivals, Ops };

struct State {
  Stage stage;
  Part part;
  std::uint32_t from;  // the first constant to come, or op that may run now (Order::Staged)
  Set there, copies;

  auto operator<=>(const State&) const = default;
};

class Search {
 public:
  Search(const Problem& problem, Bytes budget, Order order)
      : problem_{problem}, budget_{budget}, staged_{order == Order::Staged} {}

  std::optional<Nanos> run() {
    State start{problem_.start.first, Part::Gap, 0, 0, 0};
    for (ValueId value : problem_.start.resident) start.there |= bit(index(value));
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].appears < start.stage && problem_.values[i].held_in(start.stage))
        start.there |= bit(i);
    for (StorageId storage : problem_.start.offloaded) start.copies |= current(storage);
    reach(start, 0);
    while (!queue_.empty()) {
      const auto [cost, state] = queue_.top();
      queue_.pop();
      if (cost > best_[state]) continue;
      if (state.stage == problem_.end() && state.part == Part::Ops && all_held(state))
        return Nanos{cost};
      expand(state, cost);
    }
    return std::nullopt;
  }

 private:
  static Set bit(std::uint32_t value) { return Set{1} << value; }
  [[nodiscard]] static bool has(Set set, std::uint32_t value) { return (set & bit(value)) != 0; }

  void reach(const State& state, std::int64_t cost) {
    if (bytes(state.there) > budget_ || bytes(state.copies) > problem_.tier->capacity) return;
    const auto [known, added] = best_.try_emplace(state, cost);
    if (!added && known->second <= cost) return;
    known->second = cost;
    queue_.push({cost, state});
  }

  [[nodiscard]] Bytes bytes(Set set) const {
    Bytes sum;
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (has(set, i)) sum += problem_.values[i].size;
    return sum;
  }

  [[nodiscard]] Set versions(StorageId storage) const {
    Set set = 0;
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].storage == storage) set |= bit(i);
    return set;
  }

  [[nodiscard]] Set current(StorageId storage) const {
    Set set = 0;
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      const Value& value = problem_.values[i];
      if (value.storage == storage && value.view_of == kNoValue &&
          value.appears < problem_.start.first && value.changed_by >= problem_.start.first)
        set |= bit(i);
    }
    return set;
  }

  [[nodiscard]] bool all_held(const State& state) const {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].held_in(state.stage) && !has(state.there | state.copies, i))
        return false;
    return true;
  }

  [[nodiscard]] bool must_stay(std::uint32_t i, Stage stage) const {
    const Value& value = problem_.values[i];
    const bool was_held = stage > 0 && value.held_in(stage - 1);
    return value.held_in(stage) && (was_held || value.maker == kNobody);
  }

  void expand(const State& state, std::int64_t cost) {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      if (problem_.values[i].view_of != kNoValue) continue;
      evict(state, i, cost);
      if (!staged_ || state.part != Part::Gap) offload(state, i, cost);
      if (!staged_ || state.part == Part::Gap) forget(state, i, cost);
      if (state.part == Part::Ops) fetch(state, i, cost);
    }
    if (state.part == Part::Ops) return run_each(state, cost);
    reach(go_on(state), cost);
  }

  [[nodiscard]] State go_on(State state) const {
    if (state.part == Part::End) {
      state.part = Part::Gap;
      for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
        if (problem_.values[i].changed_by < state.stage) state.copies &= ~bit(i);
    } else if (state.part == Part::Gap) {
      state.part = Part::Arrivals;
    } else if (state.from == problem_.values.size()) {
      state.part = Part::Ops;
      state.from = 0;
    } else {
      const Value& value = problem_.values[state.from];
      if (value.maker == kNobody && value.appears == state.stage) state.there |= bit(state.from);
      ++state.from;
    }
    return state;
  }

  void evict(State state, std::uint32_t i, std::int64_t cost) {
    if (!has(state.there, i)) return;
    const Set all = versions(problem_.values[i].storage);
    for (std::uint32_t j = 0; j < problem_.values.size(); ++j)
      if (has(all & state.there & ~state.copies, j) && must_stay(j, state.stage)) return;
    state.there &= ~all;
    reach(state, cost);
  }

  void offload(State state, std::uint32_t i, std::int64_t cost) {
    const Value& value = problem_.values[i];
    if (!has(state.there & ~state.copies, i) || value.changed_by < state.stage) return;
    state.copies |= bit(i);
    reach(state, cost + transfer_time(value.size, problem_.tier->link.write).n);
  }

  void forget(State state, std::uint32_t i, std::int64_t cost) {
    if (!has(state.copies, i)) return;
    if (!has(state.there, i) && must_stay(i, state.stage)) return;
    state.copies &= ~bit(i);
    reach(state, cost);
  }

  void fetch(State state, std::uint32_t i, std::int64_t cost) {
    const Value& value = problem_.values[i];
    if (!has(state.copies, i) || (state.there & versions(value.storage)) != 0) return;
    state.there |= bit(i);
    reach(state, cost + transfer_time(value.size, problem_.tier->link.read).n);
  }

  void run_each(const State& state, std::int64_t cost) {
    const std::uint32_t from = staged_ ? state.from : 0;
    for (std::uint32_t op = from; op <= state.stage && op < problem_.end(); ++op)
      run_op(state, op, cost);
  }

  void run_op(State state, std::uint32_t number, std::int64_t cost) {
    const ProblemOp& op = problem_.ops[number];
    const bool first = number == state.stage;
    if (first && !all_held(state)) return;
    Bytes need = bytes(state.there) + op.scratch;
    for (ValueId input : op.inputs)
      if (!has(state.there, index(input))) return;
    for (ValueId output : op.outputs)
      if (problem_[output].change_of == kNoValue) need += problem_[output].size;
    if (need > budget_) return;
    for (ValueId output : op.outputs) make(state, output, first);
    state.from = number + 1;
    if (first)
      state = {state.stage + 1, staged_ ? Part::End : Part::Gap, 0, state.there, state.copies};
    reach(state, cost + op.cost.n);
  }

  void make(State& state, ValueId id, bool first) const {
    const Value& value = problem_[id];
    const Set all = versions(value.storage);
    Set bytes_of_it = 0;
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (has(all, i) && problem_.values[i].view_of == kNoValue) bytes_of_it |= bit(i);
    if (value.change_of != kNoValue) {
      state.there &= ~bit(index(value.change_of));
      if (!first || !staged_) state.copies &= ~all;
    } else if (value.view_of != kNoValue) {
      if (!has(state.there, index(value.view_of))) return;
    } else if ((state.there & bytes_of_it) != 0) {
      return;
    }
    if (first || state.stage <= value.last_remake) state.there |= bit(index(id));
  }

  using Queued = std::pair<std::int64_t, State>;

  const Problem& problem_;
  Bytes budget_;
  bool staged_;
  std::map<State, std::int64_t> best_;
  std::priority_queue<Queued, std::vector<Queued>, std::greater<>> queue_;
};

}  // namespace

std::optional<Nanos> naive_optimum_with_tier(const Problem& problem, Bytes budget, Order order) {
  return Search{problem, budget, order}.run();
}

}  // namespace weir::plan::test
