#include "model.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "cost/cpu_kernels.h"
#include "cost/tensor_lru.h"
#include "cost/what_if.h"
#include "trace/message.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

// Against what tiles of this capacity move, larger ones save.
constexpr double kSmallestTile = 64 * 1024;

// What of a step does not depend on the machine.
struct Reused {
  explicit Reused(const cost::Step& step)
      : blocks{step}, reuse{cost::reuse_of(step, blocks)}, curve{step, reuse} {}

  cost::Blocks blocks;
  cost::Reuse reuse;
  cost::MissCurve curve;
};

cost::Step in_sub_batches(const cost::Step& step, const cost::Batch& batch, std::int64_t size) {
  return cost::in_parts(step, batch.batched, static_cast<std::uint32_t>(batch.size / size));
}

// The size with the least traffic in the smallest cache that is asked for.
std::int64_t best_sub_batch(const cost::Step& step, const cost::Batch& batch, double capacity) {
  std::int64_t best = batch.size;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t size = 1; size <= batch.size; ++size) {
    if (batch.size % size != 0) continue;
    const double moved = Reused{in_sub_batches(step, batch, size)}.curve.at(capacity).total();
    if (moved < least) {
      least = moved;
      best = size;
    }
  }
  return best;
}

void apply_sub_batch(Model& model, const ModelOptions& options) {
  if (options.sub_batch.empty()) return;
  const cost::Batch batch = cost::batch_of(model.trace, model.step);
  if (batch.size == 0)
    throw BadInput("--sub-batch: the trace has no shapes to find the batch by; record it anew");
  model.batch = batch.size;
  const std::string& text = options.sub_batch;
  if (text == "best") {
    const Bytes smallest = options.capacities.empty() ? options.machine.caches.back().capacity
                                                      : options.capacities.front();
    model.sub_batch = best_sub_batch(model.step, batch, static_cast<double>(smallest.n));
  } else {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), model.sub_batch);
    if (error != std::errc{} || end != text.data() + text.size() || model.sub_batch < 1 ||
        batch.size % model.sub_batch != 0)
      throw BadInput(
          fmt::format("--sub-batch cannot be {}; give best or a number that divides "
                      "the batch of {}",
                      trace::quoted(text), batch.size));
  }
  model.step = in_sub_batches(model.step, batch, model.sub_batch);
}

void add_not_known(Model& model) {
  std::map<std::uint32_t, std::size_t> calls;
  std::vector<bool> touches(model.step.ops.size(), false);
  for (const cost::Sweep& sweep : model.step.sweeps) touches[sweep.op] = sweep.count > 0;
  for (std::size_t op = 0; op < touches.size(); ++op)
    if (touches[op] && !model.step.ops[op].known) ++calls[model.step.ops[op].name];
  for (const auto& [name, count] : calls)
    model.not_known.emplace_back(model.trace.names[name], count);
  std::ranges::stable_sort(model.not_known, std::greater<>{},
                           &std::pair<std::string, std::size_t>::second);
}

// The machine with its largest cache of another capacity, without those that are not smaller.
cost::Machine resized(cost::Machine machine, Bytes capacity, double bytes_per_nano) {
  cost::CacheLevel largest;
  if (!machine.caches.empty()) {
    largest = machine.caches.back();
    machine.caches.pop_back();
  }
  largest.capacity = capacity;
  std::erase_if(machine.caches,
                [&](const cost::CacheLevel& cache) { return cache.capacity >= capacity; });
  machine.caches.push_back(largest);
  for (cost::NamedRate& op : machine.memory_ops)
    op.bytes_per_nano *= bytes_per_nano / machine.bytes_per_nano;
  machine.bytes_per_nano = bytes_per_nano;
  return machine;
}

class Modeller {
 public:
  Modeller(Model& model, const ModelOptions& options)
      : model_{model},
        options_{options},
        reused_{model.step},
        tensors_{model.step},
        tiles_{model.trace, model.step} {
    model.no_reuse = reused_.curve.no_reuse() + tiles_at(kSmallestTile);
    model.compulsory = reused_.curve.compulsory();
    model.layers = reused_.blocks.layers();
    model.blocks = reused_.blocks.blocks();
  }

  void add_points() {
    std::vector<Bytes> capacities = options_.capacities;
    if (capacities.empty()) capacities = {options_.machine.caches.back().capacity};
    for (const Bytes capacity : capacities) {
      const ModelPoint traffic = traffic_at(capacity);
      for (const double bandwidth : options_.bandwidths) {
        model_.points.push_back(traffic);
        add_time(model_.points.back(), bandwidth);
      }
    }
    mark_pareto();
  }

 private:
  [[nodiscard]] double tiles_at(double capacity) const {
    return options_.tiles ? tiles_.extra(capacity) : 0;
  }

  [[nodiscard]] ModelPoint traffic_at(Bytes capacity) const {
    const auto bytes = static_cast<double>(capacity.n);
    ModelPoint point{.capacity = capacity,
                     .traffic = reused_.curve.at(bytes),
                     .tiles = tiles_at(bytes),
                     .whole_tensors = tensors_.at(bytes)};
    point.traffic.read += point.tiles;
    point.traffic.saved[static_cast<std::size_t>(cost::Scope::IntraOp)] +=
        tiles_at(kSmallestTile) - point.tiles;
    if (options_.optimum) point.optimum = cost::optimum_of(model_.step, reused_.reuse, bytes);
    return point;
  }

  void add_time(ModelPoint& point, double bandwidth) const {
    const cost::Machine machine = resized(options_.machine, point.capacity, bandwidth);
    const std::vector<cost::OpTime> ops = cost::op_times(
        model_.trace, model_.step, reused_.reuse, options_.tiles ? &tiles_ : nullptr, machine);
    point.bytes_per_nano = bandwidth;
    point.timing = cost::time_of(ops, machine.op_latency, options_.look_ahead);
    if (options_.per_op) point.ops = ops;
    if (options_.time)
      point.needed = cost::bandwidth_for(*options_.time, ops, machine.op_latency, bandwidth);
  }

  // Faster by a thousandth, or it is not worth its capacity and bandwidth.
  void mark_pareto() {
    for (ModelPoint& point : model_.points)
      point.pareto = std::ranges::none_of(model_.points, [&](const ModelPoint& other) {
        const bool less = other.capacity <= point.capacity &&
                          other.bytes_per_nano <= point.bytes_per_nano && &other != &point;
        return less && other.timing.serial <= point.timing.serial * 1.001;
      });
  }

  Model& model_;
  const ModelOptions& options_;
  Reused reused_;
  cost::TensorLru tensors_;
  cost::Tiles tiles_;
};

}  // namespace

Model model_of(const Trace& trace, const ModelOptions& options) {
  Model model{.trace = trace, .step = cost::step_of(trace, cost::find_step(trace, options.step))};
  if (model.step.sweeps.empty())
    throw BadInput(trace::located(trace.source,
                                  "has a step without ops that touch memory; give another --step"));
  model.shapes =
      std::ranges::any_of(trace.tensors, [](const TraceTensor& t) { return t.rank > 0; });
  add_not_known(model);
  if (options.cpu_kernels) cost::run_on_cpu(model.step);
  apply_sub_batch(model, options);
  if (options.fuse) model.step = cost::fused(model.step);
  if (options.alternate) model.step = cost::alternating(std::move(model.step));
  for (const cost::StepOp& op : model.step.ops) model.flops += static_cast<double>(op.flops);
  Modeller{model, options}.add_points();
  return model;
}

}  // namespace weir::app
