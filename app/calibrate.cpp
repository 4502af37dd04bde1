#include "calibrate.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "cost/op_work.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

struct Sample {
  double touched = 0, nanos = 0;
};

double touched_by(const cost::OpWork& work) {
  double bytes = 0;
  for (const cost::Touch& touch : work.touches)
    bytes += static_cast<double>(touch.bytes.n) * touch.passes;
  return bytes;
}

// Bytes for each nanosecond between the smallest and the largest; nothing if there is none.
double slope_of(std::vector<Sample>& samples) {
  const auto [low, high] = std::ranges::minmax_element(samples, {}, &Sample::touched);
  if (high->touched < 2 * low->touched) return 0;
  // Of equally large ones the mean: a reduction along rows and along columns.
  const auto mean = [&](double touched) {
    double sum = 0, count = 0;
    for (const Sample& sample : samples)
      if (sample.touched == touched) {
        sum += sample.nanos;
        ++count;
      }
    return sum / count;
  };
  const double more = mean(high->touched) - mean(low->touched);
  return more > 0 ? (high->touched - low->touched) / more : 0;
}

}  // namespace

std::vector<std::string> not_measured(const cost::Machine& machine) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < cost::kKernels; ++i)
    if (machine.kernel_flops_per_nano[i] == 0)
      names.emplace_back(cost::name(static_cast<cost::Kernel>(i)));
  return names;
}

void add_rates(cost::Machine& machine, const Trace& timed) {
  std::map<std::string, std::vector<Sample>> samples;
  std::map<std::string, Sample> from_memory;
  std::array<double, cost::kKernels> flops = {}, nanos = {};
  bool cached = true;
  for (const TraceEvent& event : timed.events) {
    if (event.kind == EventKind::Step) cached = false;
    if (event.kind != EventKind::Op) continue;
    const TraceOp& op = timed.ops[event.item];
    const cost::OpWork work = cost::work_of(timed, op);
    const auto kernel = static_cast<std::size_t>(work.kernel);
    const auto took = static_cast<double>(std::max<std::int64_t>(op.cost.n, 1));
    const std::string& name = timed.names[op.name];
    if (!cached) {
      from_memory[name].touched += touched_by(work);
      from_memory[name].nanos += took;
      continue;
    }
    if (work.flops > 0) {
      flops[kernel] += static_cast<double>(work.flops);
      nanos[kernel] += took;
    }
    if (work.gemms.empty())
      samples[name].push_back({touched_by(work), took});
    else
      machine.products.push_back(
          {name, work.gemms.front(), static_cast<double>(work.flops) / took});
  }
  for (auto& [name, of_op] : samples)
    if (const double rate = slope_of(of_op); rate > 0) machine.ops.push_back({name, rate});
  for (const auto& [name, sum] : from_memory)
    if (sum.touched > 0) machine.memory_ops.push_back({name, sum.touched / sum.nanos});
  for (std::size_t i = 0; i < cost::kKernels; ++i)
    if (nanos[i] > 0) machine.kernel_flops_per_nano[i] = flops[i] / nanos[i];
  if (const double products = machine.kernel_flops_per_nano[0]; products > 0)
    machine.flops_per_nano = products;
}

std::string add_figures(cost::Machine& machine, const std::filesystem::path& file) {
  std::ifstream in{file};
  const Json figures = Json::parse(in, nullptr, false);
  try {
    const Json& latency = figures.at("latency_ns");
    machine.phase_latency = {Nanos{latency.at("forward").get<std::int64_t>()},
                             Nanos{latency.at("backward").get<std::int64_t>()},
                             Nanos{latency.at("optimizer").get<std::int64_t>()}};
    const double fresh = figures.at("fresh_ns_per_mib").get<double>();
    if (fresh > 0) machine.fresh_bytes_per_nano = (1 << 20) / fresh;
    return figures.at("torch").get<std::string>();
  } catch (const Json::exception&) {
    throw std::runtime_error("what PyTorch was timed with did not say what it found");
  }
}

}  // namespace weir::app
