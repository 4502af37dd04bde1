// How long the model takes: the whole miss curve with the scope of every reuse, for a step of
// ResNet-50 and for steps of up to 100,000 ops; and the optimum for one capacity.
//
//   build/release/bench/cost_bench
#include <benchmark/benchmark.h>

#include "cost/curve.h"
#include "cost/nets.h"
#include "cost/optimum.h"

namespace {

using namespace weir::cost;

// The curve, asked at 1,000 capacities.
double whole_curve(const Step& step) {
  const Blocks blocks{step};
  const MissCurve curve{step, reuse_of(step, blocks)};
  double sum = 0;
  for (int i = 1; i <= 1000; ++i) sum += curve.at(i * 4e6).total();
  return sum;
}

void resnet50_curve(benchmark::State& state) {
  const Step step = test::resnet50(32, 4).step;
  for (auto _ : state) benchmark::DoNotOptimize(whole_curve(step));
}
BENCHMARK(resnet50_curve)->Unit(benchmark::kMillisecond);

// A chain of layers, forward and backward, that many ops in all.
void chain_curve(benchmark::State& state) {
  test::Net net{1, 4};
  auto x = net.norm(net.data(1 << 18), 1);
  for (std::int64_t op = 2; op < state.range(0) / 2; ++op) x = net.norm(x, 1 + op % 2);
  net.loss(x);
  const Step step = std::move(net).train();
  for (auto _ : state) benchmark::DoNotOptimize(whole_curve(step));
  state.counters["ops"] = static_cast<double>(step.ops.size());
}
BENCHMARK(chain_curve)->Arg(1'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void resnet50_optimum(benchmark::State& state) {
  const Step step = test::resnet50(32, 4).step;
  const Reuse reuse = reuse_of(step, Blocks{step});
  for (auto _ : state)
    benchmark::DoNotOptimize(
        optimum_of(step, reuse, static_cast<double>(state.range(0)) * 1048576).bound);
}
BENCHMARK(resnet50_optimum)->Arg(16)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
