#include "model_output.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "model_ops.h"
#include "output.h"
#include "trace/message.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;
using cost::Scope;

constexpr const char* kNoShapes =
    "the trace has no shapes: bytes are modelled, FLOPs are not, and time is that of moving bytes";

std::int64_t whole(double number) { return std::llround(number); }

double saved(const ModelPoint& point, Scope scope) {
  return point.traffic.saved[static_cast<std::size_t>(scope)];
}

std::string gigabytes(double bytes) { return fmt::format("{:.3f}", bytes / 1e9); }

std::string rate(double bytes_per_nano) { return fmt::format("{:.1f}", bytes_per_nano); }

double stalled(const ModelPoint& point) {
  double sum = 0;
  for (const double stall : point.timing.stalls) sum += stall;
  return sum;
}

double utilisation(const ModelPoint& point) {
  return point.timing.serial > 0 ? point.timing.computing / point.timing.serial : 0;
}

Json json_of(const ModelPoint& point, const Model& model) {
  Json json = {{"cache_bytes", point.capacity.n},
               {"bandwidth_bytes_per_s", whole(point.bytes_per_nano * 1e9)},
               {"read_bytes", whole(point.traffic.read)},
               {"write_bytes", whole(point.traffic.write)},
               {"tile_bytes", whole(point.tiles)},
               {"whole_tensor_bytes", whole(point.whole_tensors)},
               {"time_ns", whole(point.timing.serial)},
               {"prefetch_time_ns", whole(point.timing.prefetched)},
               {"stall_ns", whole(stalled(point))},
               {"utilisation", utilisation(point)},
               {"flops_per_byte",
                point.traffic.total() > 0 ? Json(model.flops / point.traffic.total()) : Json()},
               {"pareto", point.pareto},
               {"reuse",
                {{"adjacent", whole(saved(point, Scope::Adjacent))},
                 {"block", whole(saved(point, Scope::Block))},
                 {"forward_backward", whole(saved(point, Scope::ForwardBackward))},
                 {"intra_op", whole(saved(point, Scope::IntraOp))}}},
               {"beyond_block_bytes", whole(point.traffic.beyond_block)}};
  if (point.optimum) {
    json["optimum_bytes"] = whole(point.optimum->bound);
    json["optimum_whole_tensor_bytes"] = whole(point.optimum->whole);
  }
  if (point.needed) json["needed_bandwidth_bytes_per_s"] = whole(*point.needed * 1e9);
  return json;
}

void print_head(const Model& model) {
  const cost::Step& step = model.step;
  fmt::print("{}  {} ops, {} layers, {} blocks; {} GB without reuse, {} GB compulsory",
             label_of(model.trace), step.ops.size(), model.layers, model.blocks,
             gigabytes(model.no_reuse), gigabytes(model.compulsory));
  if (model.shapes) fmt::print("; {:.1f} GFLOP", model.flops / 1e9);
  if (model.sub_batch > 0) fmt::print("; {} of {} samples at a time", model.sub_batch, model.batch);
  fmt::print("\n");
}

void print_notes(const Model& model) {
  if (!model.shapes) {
    fmt::print("note: {}\n", kNoShapes);
    return;
  }
  if (model.not_known.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(model.not_known.size(), 8); ++i)
    names += fmt::format("{}{} ({})", i == 0 ? "" : ", ",
                         trace::printable(model.not_known[i].first), model.not_known[i].second);
  fmt::print(
      "note: counted by their bytes alone: {}{}\n", names,
      model.not_known.size() > 8 ? fmt::format(" and {} more", model.not_known.size() - 8) : "");
}

void print_row(const ModelPoint& point, const ModelOptions& options) {
  fmt::print("{:>11} {:>8} {:>8} {:>8} {:>8}", base::format_bytes(point.capacity),
             rate(point.bytes_per_nano), gigabytes(point.traffic.read),
             gigabytes(point.traffic.write), gigabytes(point.whole_tensors));
  if (point.optimum) fmt::print(" {:>8}", gigabytes(point.optimum->bound));
  for (const Scope scope : {Scope::Adjacent, Scope::Block, Scope::ForwardBackward, Scope::IntraOp})
    fmt::print(" {:>8}", gigabytes(saved(point, scope)));
  fmt::print(" {:>10} {:>10} {:>5.1f}", base::format_nanos({whole(point.timing.serial)}),
             base::format_nanos({whole(point.timing.prefetched)}), 100 * utilisation(point));
  if (options.time) fmt::print(" {:>8}", point.needed ? rate(*point.needed) : "never");
  fmt::print(" {}\n", point.pareto ? "*" : "");
}

}  // namespace

void print_table(const Model& model, const ModelOptions& options) {
  print_head(model);
  print_notes(model);
  fmt::print("{:>11} {:>8} {:>8} {:>8} {:>8}", "cache", "GB/s", "read GB", "write", "tensors");
  if (options.optimum) fmt::print(" {:>8}", "best");
  fmt::print(" {:>8} {:>8} {:>8} {:>8} {:>10} {:>10} {:>5}", "adjacent", "block", "fwd-bwd",
             "intra-op", "serial", "prefetch", "use %");
  if (options.time) fmt::print(" {:>8}", "needs");
  fmt::print(" pareto\n");
  for (const ModelPoint& point : model.points) print_row(point, options);
}

Json json_of(const Model& model, const ModelOptions& options) {
  Json unknown = Json::object();
  for (const auto& [name, calls] : model.not_known) unknown[name] = calls;
  Json json = {{"trace", model.trace.source},
               {"label", label_of(model.trace)},
               {"ops", model.step.ops.size()},
               {"layers", model.layers},
               {"blocks", model.blocks},
               {"flops", model.shapes ? Json(whole(model.flops)) : Json()},
               {"no_reuse_bytes", whole(model.no_reuse)},
               {"compulsory_bytes", whole(model.compulsory)},
               {"ops_not_known", std::move(unknown)}};
  if (!model.shapes) json["note"] = kNoShapes;
  if (model.sub_batch > 0) json["sub_batch"] = model.sub_batch;
  if (model.points.size() == 1) {
    json.update(json_of(model.points.front(), model));
    if (options.per_op) json["per_op"] = json_of_ops(model, options);
    return json;
  }
  json["points"] = Json::array();
  for (const ModelPoint& point : model.points) json["points"].push_back(json_of(point, model));
  return json;
}

std::string csv_of(const Model& model) {
  std::string csv =
      "cache_bytes,bandwidth_bytes_per_s,read_bytes,write_bytes,tile_bytes,whole_tensor_bytes,"
      "optimum_bytes,adjacent_bytes,block_bytes,forward_backward_bytes,intra_op_bytes,time_ns,"
      "prefetch_time_ns,stall_ns,utilisation,needed_bandwidth_bytes_per_s,pareto\n";
  for (const ModelPoint& point : model.points)
    fmt::format_to(
        std::back_inserter(csv), "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.6f},{},{}\n",
        point.capacity.n, whole(point.bytes_per_nano * 1e9), whole(point.traffic.read),
        whole(point.traffic.write), whole(point.tiles), whole(point.whole_tensors),
        point.optimum ? std::to_string(whole(point.optimum->bound)) : "",
        whole(saved(point, Scope::Adjacent)), whole(saved(point, Scope::Block)),
        whole(saved(point, Scope::ForwardBackward)), whole(saved(point, Scope::IntraOp)),
        whole(point.timing.serial), whole(point.timing.prefetched), whole(stalled(point)),
        utilisation(point), point.needed ? std::to_string(whole(*point.needed * 1e9)) : "",
        point.pareto ? 1 : 0);
  return csv;
}

}  // namespace weir::app
