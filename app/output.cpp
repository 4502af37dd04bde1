#include "output.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trace/message.h"
#include "trace/reader.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

bool tells_the_format(const std::filesystem::path& extension) {
  return extension == ".zst" || extension == ".jsonl" || extension == ".json" ||
         extension == ".log" || extension == ".trace";
}

}  // namespace

Json json_of(const sim::ReplayResult& result, const Trace& trace) {
  const bool ok = result.status == sim::Status::Ok;
  Json json = {{"status", sim::name(result.status)},
               {"slowdown", ok ? Json(result.slowdown()) : Json()},
               {"clock_ns", result.clock.n},
               {"base_ns", result.base.n},
               {"recompute_ns", result.recompute.n},
               {"pages_ns", result.pages.n},
               {"peak_bytes", result.peak.n},
               {"budget_bytes", result.budget.n},
               {"evictions", result.counters.evictions},
               {"releases", result.counters.releases},
               {"recomputes", result.counters.recomputes},
               {"scored", result.counters.scored}};
  for (const sim::ReplayResult::Step& step : result.steps)
    json["steps"].push_back({{"clock_ns", step.took.n}, {"base_ns", step.base.n}});
  if (ok) return json;
  if (result.stopped_in) json["stopped_in"] = trace.names[trace.ops[*result.stopped_in].name];
  if (result.status != sim::Status::OutOfBudget) return json;
  json["need_bytes"] = result.need.n;
  json["held_bytes"] = result.held.n;
  json["smallest_budget_here_bytes"] = (result.held + result.need).n;
  return json;
}

void print_json(const Json& value) {
  fmt::print("{}\n", value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string where_stopped(const sim::ReplayResult& result, const Trace& trace) {
  if (!result.stopped_in) return "at a constant";
  const std::string& op = trace.names[trace.ops[*result.stopped_in].name];
  return fmt::format("in op {} ({})", *result.stopped_in, trace::printable(op));
}

std::vector<Trace> read_all(std::span<const std::filesystem::path> paths) {
  for (auto path = paths.begin(); path != paths.end(); ++path)
    if (std::find(paths.begin(), path, *path) != path)
      throw BadInput(trace::located(path->native(), "is given twice; give it once"));
  std::vector<Trace> traces;
  for (const std::filesystem::path& path : paths) traces.push_back(trace::read_trace(path));
  return traces;
}

std::string label_of(const Trace& trace) {
  std::filesystem::path name = std::filesystem::path(trace.source).filename();
  while (tells_the_format(name.extension())) name = name.stem();
  return trace::printable(name.native());
}

}  // namespace weir::app
