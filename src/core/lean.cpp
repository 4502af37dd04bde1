// The product's order. It goes from op to op as DTR's does, with four differences that let it run
// in less memory:
//   - It lists all ops that have to run before it starts, so it knows of every storage how many of
//     them still read it. What nobody references and nobody on the list reads is spent, and spent
//     storages go before anything a policy is asked about, the latest first.
//   - Of several missing inputs the one whose restoring needs most memory beyond its own size comes
//     back first, while the least is held (Sethi and Ullman's rule for registers).
//   - An op that waits holds its inputs only loosely: the cheapest of them to bring back goes when
//     there is nothing else, or when what the policy would give up is half again as dear.
//   - An op that gave way takes back what it lost when its turn comes, and does not give way a
//     second time. This is what makes restoring end.
// The first two need a policy whose scores count lineage: one that does not would give up storages
// whose makers are spent and gone. With such a policy they start when nothing is left for it to
// choose, which is where DTR's order runs out; until then the two orders do the same.
#include <algorithm>

#include "core/depth_first.h"
#include "core/state.h"

namespace weir::core {

namespace {

constexpr double kDearer = 1.5;  // how much dearer a choice must be for an op to give way

class Lean final : public DepthFirst {
 public:
  StorageId give_way(State& state, Job& job, double dearest) override {
    StorageId cheapest = kNoStorage;
    double lowest = dearest / kDearer;
    for (std::size_t f = 0; f + 1 < job.stack.size(); ++f) {
      if (job.stack[f].firm) continue;
      for (std::uint32_t i = job.stack[f].first_pin; i < job.stack[f + 1].first_pin; ++i) {
        if (job.pins[i] == kNoStorage || !only_loosely_held(state, job, job.pins[i])) continue;
        const double price = state.price(job.pins[i]);
        if (price >= lowest) continue;
        lowest = price;
        cheapest = job.pins[i];
      }
    }
    if (cheapest != kNoStorage) unpin_everywhere(state, job, cheapest);
    return cheapest;
  }

  void finish(State& state, Job& job) override {
    for (OpId op : job.listed) {
      unlist(state, op);
      state.drop(op);
    }
    job.listed.clear();
  }

 private:
  void before_waiting(State& state, Job& job, OpId op) override {
    if (listed_.size() < state.graph.ops()) {
      listed_.resize(2 * state.graph.ops());
      need_.resize(2 * state.graph.ops());
    }
    list(state, job, op);
  }

  void order_missing(const State& state, std::span<TensorId> missing) override {
    if (missing.size() < 2 || !state.frugal()) return;
    const auto beyond_own_size = [&](TensorId tensor) {
      const Storage& s = state.graph[state.graph[tensor].storage];
      if (s.where() == Residency::Offloaded) return Bytes{};
      return need_[index(state.op_to_restore(tensor))] - s.size;
    };
    std::ranges::stable_sort(missing, std::greater{}, beyond_own_size);
  }

  void after_replay(State& state, OpId op) override { unlist(state, op); }

  // Adds the op and, before it, everything that has to run for it and is not on the list yet.
  void list(State& state, Job& job, OpId op) {
    if (!enter(state, job, op)) return;
    visits_.assign(1, {op, 0});
    while (!visits_.empty()) {
      Visit& visit = visits_.back();
      const std::span<const TensorId> inputs = state.graph.inputs(state.graph[visit.op]);
      if (visit.input == inputs.size()) {
        need_[index(visit.op)] = need(state, visit.op);
        visits_.pop_back();
        continue;
      }
      const TensorId input = inputs[visit.input++];
      if (state.ready(input, visit.op) || offloaded(state, input)) continue;
      const OpId maker = state.op_to_restore(input);
      if (enter(state, job, maker)) visits_.push_back({maker, 0});
    }
  }

  bool enter(State& state, Job& job, OpId op) {
    if (listed_[index(op)]) return false;
    listed_[index(op)] = true;
    job.listed.push_back(op);
    state.hold(op);
    for (TensorId input : state.graph.inputs(state.graph[op]))
      state.await(state.graph[input].storage);
    return true;
  }

  void unlist(State& state, OpId op) {
    if (!listed_[index(op)]) return;
    listed_[index(op)] = false;
    for (TensorId input : state.graph.inputs(state.graph[op]))
      state.stop_awaiting(state.graph[input].storage);
  }

  static bool offloaded(const State& state, TensorId tensor) {
    return state.graph[state.graph[tensor].storage].where() == Residency::Offloaded;
  }

  // The bytes it takes to run an op, the missing inputs restored in the best order; as if no two of
  // them had anything in common.
  Bytes need(const State& state, OpId op) {
    const OpRecord& record = state.graph[op];
    Bytes held{};
    inputs_.clear();
    for (TensorId input : state.graph.inputs(record)) {
      const Storage& s = state.graph[state.graph[input].storage];
      if (offloaded(state, input))
        inputs_.push_back({s.size, s.size});
      else if (!state.ready(input, op))
        inputs_.push_back({need_[index(state.op_to_restore(input))], s.size});
      else if (s.has_recipe())
        held += s.size;
    }
    std::ranges::sort(inputs_, std::greater{}, [](const Missing& m) { return m.need - m.size; });
    Bytes most{};
    for (const Missing& input : inputs_) {
      most = std::max(most, held + input.need);
      held += input.size;
    }
    return std::max(most, held + record.makes);
  }

  // Pinned by nothing but ops of this job that wait and have not given way before.
  static bool only_loosely_held(const State& state, const Job& job, StorageId storage) {
    const Storage& s = state.graph[storage];
    if (!s.has_recipe() || !s.complete() || s.size == Bytes{}) return false;
    std::uint32_t loose = 0;
    for (std::size_t f = 0; f + 1 < job.stack.size(); ++f)
      for (std::uint32_t i = job.stack[f].first_pin; i < job.stack[f + 1].first_pin; ++i)
        loose += job.pins[i] == storage && !job.stack[f].firm;
    return loose == s.pins;
  }

  static void unpin_everywhere(State& state, Job& job, StorageId storage) {
    for (std::size_t f = 0; f + 1 < job.stack.size(); ++f) {
      for (std::uint32_t i = job.stack[f].first_pin; i < job.stack[f + 1].first_pin; ++i) {
        if (job.pins[i] != storage) continue;
        job.pins[i] = kNoStorage;
        job.stack[f].gave_way = true;
        state.unpin(storage);
      }
    }
  }

  struct Visit {
    OpId op;
    std::uint32_t input;
  };
  struct Missing {
    Bytes need, size;
  };

  std::vector<bool> listed_;  // by op
  std::vector<Bytes> need_;   // by op; known for those listed
  std::vector<Visit> visits_;
  std::vector<Missing> inputs_;
};

}  // namespace

std::unique_ptr<RestoreSteps> make_restore_steps(RestoreOrder order) {
  if (order == RestoreOrder::Lean) return std::make_unique<Lean>();
  return std::make_unique<DepthFirst>();
}

}  // namespace weir::core
