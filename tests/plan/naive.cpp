#include "plan/naive.h"

#include <map>
#include <queue>
#include <tuple>
#include <vector>

namespace weir::plan::test {
namespace {

using Set = std::uint32_t;  // of values

constexpr std::uint32_t kNoLimit = UINT32_MAX;
constexpr std::uint32_t kGap = UINT32_MAX;  // the constants of the stage are still to come

struct State {
  Stage stage;
  std::uint32_t from;  // the first op that may run now (Order::Staged), or kGap
  Set there;
  std::uint64_t again = 0;  // how often each op has run again, four bits each; if that is limited

  auto operator<=>(const State&) const = default;
};

class Search {
 public:
  Search(const Problem& problem, Bytes budget, Order order, std::uint32_t most_runs = kNoLimit)
      : problem_{problem}, budget_{budget}, order_{order}, most_runs_{most_runs} {}

  std::optional<Nanos> run() {
    Set start = 0;
    for (ValueId value : problem_.start.resident) start |= bit(index(value));
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].appears < problem_.start.first &&
          problem_.values[i].held_in(problem_.start.first))
        start |= bit(i);
    reach({problem_.start.first, kGap, start}, 0);
    while (!queue_.empty()) {
      const auto [cost, state] = queue_.top();
      queue_.pop();
      if (cost > best_[state]) continue;
      if (state.stage == problem_.end() && state.from != kGap && all_held(state))
        return Nanos{cost};
      expand(state, cost);
    }
    return std::nullopt;
  }

 private:
  static Set bit(std::uint32_t value) { return Set{1} << value; }
  [[nodiscard]] static bool has(Set set, ValueId value) { return (set & bit(index(value))) != 0; }

  void reach(const State& state, std::int64_t cost) {
    if (bytes(state.there) > budget_) return;
    const auto [known, added] = best_.try_emplace(state, cost);
    if (!added && known->second <= cost) return;
    known->second = cost;
    queue_.push({cost, state});
  }

  [[nodiscard]] Bytes bytes(Set there) const {
    Bytes sum;
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if ((there & bit(i)) != 0)
        sum += problem_.values[i].size;  // one version of a storage at most
    return sum;
  }

  [[nodiscard]] State arrived(State state) const {
    state.from = 0;
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].maker == kNobody && problem_.values[i].appears == state.stage)
        state.there |= bit(i);
    return state;
  }

  [[nodiscard]] bool all_held(const State& state) const {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].held_in(state.stage) && (state.there & bit(i)) == 0) return false;
    return true;
  }

  void expand(const State& state, std::int64_t cost) {
    drop_each(state, cost);
    if (state.from == kGap) return reach(arrived(state), cost);
    const std::uint32_t from = order_ == Order::Staged ? state.from : 0;
    for (std::uint32_t op = from; op <= state.stage && op < problem_.end(); ++op)
      run_op(state, op, cost);
  }

  void drop_each(const State& state, std::int64_t cost) {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      const Value& value = problem_.values[i];
      if ((state.there & bit(i)) == 0 || value.view_of != kNoValue) continue;
      const bool was_held = state.stage > 0 && value.held_in(state.stage - 1);
      if (value.held_in(state.stage) && (was_held || value.maker == kNobody)) continue;
      State less = state;
      for (std::uint32_t j = 0; j < problem_.values.size(); ++j)
        if (problem_.values[j].storage == value.storage) less.there &= ~bit(j);
      reach(less, cost);
    }
  }

  // False if it may not.
  [[nodiscard]] bool run_again(State& state, std::uint32_t number) const {
    if (most_runs_ == kNoLimit) return true;
    const std::uint64_t before = state.again >> (4 * number) & 15;
    state.again += std::uint64_t{1} << (4 * number);
    return before + 2 <= most_runs_;
  }

  void run_op(State state, std::uint32_t number, std::int64_t cost) {
    const ProblemOp& op = problem_.ops[number];
    const bool first = number == state.stage;
    if (!first && !run_again(state, number)) return;
    if (first && !all_held(state)) return;
    Bytes need = bytes(state.there) + op.scratch;
    for (ValueId input : op.inputs)
      if (!has(state.there, input)) return;
    for (ValueId output : op.outputs)
      if (problem_[output].change_of == kNoValue) need += problem_[output].size;
    if (need > budget_) return;
    for (ValueId output : op.outputs) make(state, output, first);
    state.from = number + 1;
    if (first) state = {state.stage + 1, kGap, state.there, state.again};
    reach(state, cost + op.cost.n);
  }

  void make(State& state, ValueId id, bool first) const {
    const Value& value = problem_[id];
    Set same = 0;
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].storage == value.storage && problem_.values[i].view_of == kNoValue)
        same |= bit(i);
    if (value.change_of != kNoValue) {
      state.there &= ~bit(index(value.change_of));
    } else if (value.view_of != kNoValue) {
      if (!has(state.there, value.view_of)) return;
    } else if ((state.there & same) != 0) {
      return;
    }
    if (first || state.stage <= value.last_remake) state.there |= bit(index(id));
  }

  using Queued = std::pair<std::int64_t, State>;

  const Problem& problem_;
  Bytes budget_;
  Order order_;
  std::uint32_t most_runs_;
  std::map<State, std::int64_t> best_;
  std::priority_queue<Queued, std::vector<Queued>, std::greater<>> queue_;
};

}  // namespace

std::optional<Nanos> naive_optimum(const Problem& problem, Bytes budget, Order order) {
  return Search{problem, budget, order}.run();
}

std::optional<Nanos> naive_optimum_with_runs(const Problem& problem, Bytes budget,
                                             std::uint32_t most_runs) {
  return Search{problem, budget, Order::Staged, most_runs}.run();
}

}  // namespace weir::plan::test
