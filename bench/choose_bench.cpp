// What an event costs a policy, by the number of candidates.
//   use       a storage is used, and a victim is chosen
//   turnover  a victim is chosen and evicted, and another storage comes back
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"
#include "weir/registry.h"

namespace {

using namespace weir;

// Chains of fifty ops with random costs and sizes; four of five storages are resident.
class World {
 public:
  World(Policy& policy, std::uint32_t candidates) : policy_{policy} {
    const std::uint32_t storages = candidates + candidates / 4;
    graph_.reserve(storages, storages);
    for (std::uint32_t i = 0; i < storages; ++i) add(i);
    for (std::uint32_t i = 0; i < storages; ++i) {
      if (resident_.size() > candidates && rng_.chance(1, 4))
        evict(resident_[rng_.below(resident_.size())]);
    }
    while (resident_.size() > candidates) evict(resident_.back());
  }

  void use_one() {
    tick();
    use(resident_[rng_.below(resident_.size())]);
    benchmark::DoNotOptimize(policy_.choose(view(), Bytes{1}));
  }

  void turn_over() {
    tick();
    const std::optional<Choice> choice = policy_.choose(view(), Bytes{1});
    restore(evicted_[rng_.below(evicted_.size())]);
    evict(choice->victim);
  }

 private:
  void tick() { now_ += Nanos{static_cast<std::int64_t>(1000 + rng_.below(1000))}; }

  void add(std::uint32_t i) {
    const TensorId previous{i - 1};
    const std::span<const TensorId> inputs{&previous, i % 50 == 0 ? 0u : 1u};
    const OpId op = graph_.add_op(0, true, inputs);
    graph_.set_cost(op, {static_cast<std::int64_t>(500 + rng_.below(1'000'000))});
    const StorageId id = graph_.add_storage({static_cast<std::int64_t>(512 + rng_.below(1 << 24))});
    graph_.begin_outputs(op, 1);
    graph_.add_output(op, id, true);
    graph_.extend_recipe(id, op);
    position_.push_back(0);
    tell(id, Change::Declared);
    now_ += Nanos{1000};
    graph_[id].last_use = now_;
    become_resident(id);
  }

  void become_resident(StorageId id) {
    graph_[id].move_to(Residency::Resident);
    position_[index(id)] = resident_.size();
    resident_.push_back(id);
    tell(id, Change::Restored);
    tell(id, Change::Offered);
  }

  void use(StorageId id) {
    tell(id, Change::Withdrawn);
    graph_[id].last_use = now_;
    tell(id, Change::Offered);
  }

  void evict(StorageId id) {
    move(id, resident_, evicted_);
    tell(id, Change::Withdrawn);
    graph_[id].move_to(Residency::Evicted);
    tell(id, Change::Evicted);
  }

  void restore(StorageId id) {
    move(id, evicted_, resident_);
    graph_[id].move_to(Residency::Resident);
    graph_[id].last_use = now_;
    tell(id, Change::Restored);
    tell(id, Change::Offered);
  }

  void move(StorageId id, std::vector<StorageId>& from, std::vector<StorageId>& to) {
    const std::size_t at = position_[index(id)];
    from[at] = from.back();
    position_[index(from[at])] = at;
    from.pop_back();
    position_[index(id)] = to.size();
    to.push_back(id);
  }

  void tell(StorageId id, Change change) {
    if (policy_.wants(change)) policy_.note(graph_, id, change);
  }

  [[nodiscard]] View view() const {
    return {.graph = graph_, .now = now_, .slots = resident_, .candidates = resident_.size()};
  }

  Policy& policy_;
  Graph graph_;
  base::Rng rng_{1};
  Nanos now_{1};
  std::vector<StorageId> resident_, evicted_;
  std::vector<std::size_t> position_;  // by storage, in the one of the two it is in
};

template <void (World::*kEvent)()>
void event(benchmark::State& state, const char* policy_name) {
  const std::unique_ptr<Policy> policy = find_policy(policy_name).make({});
  World world{*policy, static_cast<std::uint32_t>(state.range(0))};
  for (int i = 0; i < 1000; ++i) (world.*kEvent)();
  const std::uint64_t scored = policy->scored();
  for (auto _ : state) (world.*kEvent)();
  state.counters["scored"] = benchmark::Counter(static_cast<double>(policy->scored() - scored),
                                                benchmark::Counter::kAvgIterations);
}

void indexed(benchmark::internal::Benchmark* bench) {
  bench->RangeMultiplier(10)->Range(1'000, 1'000'000);
}
void scanned(benchmark::internal::Benchmark* bench) {
  bench->RangeMultiplier(10)->Range(1'000, 100'000);
}

void use(benchmark::State& state, const char* policy) { event<&World::use_one>(state, policy); }
void turnover(benchmark::State& state, const char* policy) {
  event<&World::turn_over>(state, policy);
}
BENCHMARK_CAPTURE(use, h_dtr_local_indexed, "h_dtr_local_indexed")->Apply(indexed);
BENCHMARK_CAPTURE(use, h_dtr_eq_indexed, "h_dtr_eq_indexed")->Apply(indexed);
BENCHMARK_CAPTURE(turnover, h_dtr_local_indexed, "h_dtr_local_indexed")->Apply(indexed);
BENCHMARK_CAPTURE(turnover, h_dtr_eq_indexed, "h_dtr_eq_indexed")->Apply(indexed);
BENCHMARK_CAPTURE(use, h_dtr_local, "h_dtr_local")->Apply(scanned);
BENCHMARK_CAPTURE(use, h_dtr_eq, "h_dtr_eq")->Apply(scanned);

}  // namespace
