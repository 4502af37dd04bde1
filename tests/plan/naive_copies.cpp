#include <algorithm>
#include <map>
#include <queue>
#include <vector>

#include "plan/naive.h"

namespace weir::plan::test {
namespace {

// Times count from now on; what is done has none left.
struct State {
  Stage next = 0;
  std::uint32_t there = 0, copies = 0;  // sets of values
  std::int64_t writer = 0, reader = 0;
  std::vector<std::int64_t> copied, arrives;  // by value

  auto operator<=>(const State&) const = default;
};

class Search {
 public:
  Search(const Problem& problem, Bytes budget) : problem_{problem}, budget_{budget} {}

  std::optional<Nanos> run() {
    const std::vector<std::int64_t> none(problem_.values.size());
    reach({.copied = none, .arrives = none}, 0);
    while (!queue_.empty()) {
      const auto [cost, state] = queue_.top();
      queue_.pop();
      if (cost > best_[state]) continue;
      if (is_done(state)) return Nanos{cost};
      for (std::uint32_t i = 0; i < problem_.values.size(); ++i) move(state, i, cost);
      for (std::uint32_t op = 0; op <= state.next && op < problem_.end(); ++op)
        compute(state, op, cost);
    }
    return std::nullopt;
  }

 private:
  static bool has(std::uint32_t set, std::uint32_t i) { return ((set >> i) & 1u) != 0; }

  void reach(const State& state, std::int64_t cost) {
    if (bytes(state.there) > budget_ || bytes(state.copies) > problem_.tier->capacity) return;
    const auto [known, added] = best_.try_emplace(state, cost);
    if (!added && known->second <= cost) return;
    known->second = cost;
    queue_.push({cost, state});
  }

  [[nodiscard]] Bytes bytes(std::uint32_t set) const {
    Bytes sum;
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (has(set, i)) sum += problem_.values[i].size;
    return sum;
  }

  // Waits for nothing that is not there; what is on its way back at the end is waited for.
  [[nodiscard]] bool is_done(const State& state) const {
    if (state.next != problem_.end() || !all_held(state)) return false;
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (has(state.there, i) && state.arrives[i] > 0) return false;
    return true;
  }

  [[nodiscard]] bool all_held(const State& state) const {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (problem_.values[i].held_in(state.next) && !has(state.there | state.copies, i))
        return false;
    return true;
  }

  [[nodiscard]] bool must_stay(const State& state, std::uint32_t i) const {
    const Value& value = problem_.values[i];
    return state.next > 0 && value.held_in(state.next) && value.held_in(state.next - 1);
  }

  static void pass(State& state, std::int64_t time) {
    const auto less = [&](std::int64_t& left) { left = std::max<std::int64_t>(0, left - time); };
    less(state.writer);
    less(state.reader);
    for (std::int64_t& left : state.copied) less(left);
    for (std::int64_t& left : state.arrives) less(left);
  }

  void move(const State& now, std::uint32_t i, std::int64_t cost) {
    const Bytes size = problem_.values[i].size;
    const std::uint32_t bit = 1u << i;
    const bool safe = has(now.copies, i) || !must_stay(now, i);
    if (has(now.there, i)) {
      const std::int64_t wait = std::max(now.copied[i], now.arrives[i]);
      State gone = now, kept = now;
      pass(gone, wait);
      gone.there &= ~bit;
      if (safe) reach(gone, cost + wait);
      pass(kept, wait);  // to wait is all there is to do at the end
      reach(kept, cost + wait);
    }
    if (has(now.there, i) && !has(now.copies, i)) {
      State copied = now;
      const std::int64_t begin = std::max(now.writer, now.arrives[i]);
      copied.writer = copied.copied[i] = begin + transfer_time(size, problem_.tier->link.write).n;
      copied.copies |= bit;
      reach(copied, cost);
    }
    if (has(now.copies, i)) back_or_forgotten(now, i, cost);
  }

  void back_or_forgotten(const State& now, std::uint32_t i, std::int64_t cost) {
    const std::uint32_t bit = 1u << i;
    if (!has(now.there, i)) {
      State back = now;
      back.there |= bit;
      back.reader = back.arrives[i] =
          std::max(now.reader, now.copied[i]) +
          transfer_time(problem_.values[i].size, problem_.tier->link.read).n;
      reach(back, cost);
    }
    if (!has(now.there, i) && must_stay(now, i)) return;
    State without = now;
    pass(without, now.copied[i]);
    without.copies &= ~bit;
    reach(without, cost + now.copied[i]);
  }

  void compute(State state, std::uint32_t number, std::int64_t cost) {
    const ProblemOp& op = problem_.ops[number];
    const bool first = number == state.next;
    if (first && !all_held(state)) return;
    std::int64_t wait = 0;
    for (ValueId input : op.inputs) {
      if (!has(state.there, index(input))) return;
      wait = std::max(wait, state.arrives[index(input)]);
    }
    Bytes need = bytes(state.there) + op.scratch;
    for (ValueId output : op.outputs) need += problem_[output].size;
    if (need > budget_) return;
    pass(state, wait + op.cost.n);
    for (ValueId output : op.outputs)
      if (first || state.next <= problem_[output].last_remake) state.there |= 1u << index(output);
    if (first) ++state.next;
    reach(state, cost + wait + op.cost.n);
  }

  using Queued = std::pair<std::int64_t, State>;

  const Problem& problem_;
  Bytes budget_;
  std::map<State, std::int64_t> best_;
  std::priority_queue<Queued, std::vector<Queued>, std::greater<>> queue_;
};

}  // namespace

std::optional<Nanos> naive_optimum_beside_ops(const Problem& problem, Bytes budget) {
  return Search{problem, budget}.run();
}

}  // namespace weir::plan::test
