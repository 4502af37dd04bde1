#include "model_ops.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "trace/message.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t whole(double number) { return std::llround(number); }

struct Row {
  const cost::StepOp& op;
  double read, write;  // bytes from and to memory
  double time, stall;
  cost::Bound bound;
};

Row row_of(const Model& model, const ModelOptions& options, std::size_t i) {
  const ModelPoint& point = model.points.front();
  const cost::OpTime& op = point.ops[i];
  const Nanos latency = options.machine.op_latency;
  return {.op = model.step.ops[i],
          .read = op.reads * point.bytes_per_nano,
          .write = op.writes * point.bytes_per_nano,
          .time = op.roofline() + static_cast<double>(latency.n),
          .stall = point.timing.stalls[i],
          .bound = op.bound(latency)};
}

}  // namespace

void print_ops(const Model& model, const ModelOptions& options) {
  fmt::print("{:>5} {:<9} {:<11} {:>10} {:>10} {:>10} {:>10} {:>10} {:<7} {}\n", "op", "phase",
             "kernel", "MFLOP", "read MB", "write MB", "time", "stall", "bound", "name");
  for (std::size_t i = 0; i < model.step.ops.size(); ++i) {
    const Row row = row_of(model, options, i);
    if (row.time == 0) continue;  // a view
    fmt::print("{:>5} {:<9} {:<11} {:>10.3f} {:>10.3f} {:>10.3f} {:>10} {:>10} {:<7} {}\n", i + 1,
               cost::name(row.op.phase), cost::name(row.op.kernel),
               static_cast<double>(row.op.flops) / 1e6, row.read / 1e6, row.write / 1e6,
               base::format_nanos({whole(row.time)}), base::format_nanos({whole(row.stall)}),
               cost::name(row.bound), trace::printable(model.trace.names[row.op.name]));
  }
}

Json json_of_ops(const Model& model, const ModelOptions& options) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < model.step.ops.size(); ++i) {
    const Row row = row_of(model, options, i);
    rows.push_back({{"name", model.trace.names[row.op.name]},
                    {"phase", cost::name(row.op.phase)},
                    {"kernel", cost::name(row.op.kernel)},
                    {"flops", row.op.flops},
                    {"read_bytes", whole(row.read)},
                    {"write_bytes", whole(row.write)},
                    {"time_ns", row.time},
                    {"stall_ns", row.stall},
                    {"bound", cost::name(row.bound)}});
  }
  return rows;
}

}  // namespace weir::app
