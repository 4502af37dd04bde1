#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost/curve.h"
#include "cost/machine.h"
#include "cost/optimum.h"
#include "cost/step.h"
#include "cost/timing.h"
#include "weir/trace.h"

namespace weir::app {

// What `weir model` was asked.
struct ModelOptions {
  std::optional<std::uint32_t> step;
  std::vector<Bytes> capacities;   // of the largest cache; empty: the machine's caches as they are
  std::vector<double> bandwidths;  // bytes for each nanosecond
  cost::Machine machine;
  std::uint32_t look_ahead = 4;
  std::optional<double> time;  // nanoseconds to reach
  bool optimum = false, tiles = true, alternate = false, fuse = false;
  bool per_op = false;
  bool cpu_kernels = false;
  std::string sub_batch;  // a number, "best", or empty
};

// One capacity and one bandwidth.
struct ModelPoint {
  Bytes capacity;
  double bytes_per_nano = 0;
  cost::Traffic traffic = {};  // tiles included
  double tiles = 0;            // bytes that products read again
  double whole_tensors = 0;    // LRU by whole tensors, without tiles
  std::optional<cost::Optimum> optimum = {};
  cost::Timing timing = {};
  std::vector<cost::OpTime> ops = {};  // if asked for
  std::optional<double> needed = {};   // bandwidth to reach the time
  bool pareto = false;                 // no point with as little capacity and bandwidth is as fast
};

struct Model {
  const Trace& trace;
  cost::Step step;
  double flops = 0;
  bool shapes = false;  // without, nothing is known of FLOPs
  double no_reuse = 0, compulsory = 0;
  std::uint32_t layers = 0, blocks = 0;
  std::int64_t batch = 0, sub_batch = 0;                            // samples; 0: not asked
  std::vector<std::pair<std::string, std::size_t>> not_known = {};  // ops counted by bytes alone
  std::vector<ModelPoint> points = {};
};

[[nodiscard]] Model model_of(const Trace& trace, const ModelOptions& options);

}  // namespace weir::app
