#include "schedule_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trace/message.h"
#include "trace/sink.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr const char* kMoves[] = {"compute", "evict", "offload", "prefetch", "fetch", "forget"};

Json json_of(const Schedule& schedule) {
  Json ops = Json::array(), moves = Json::array();
  for (const OpSignature& op : schedule.ops)
    ops.push_back({op.name, fmt::format("{:016x}", op.digest)});
  for (const ScheduledMove& move : schedule.moves)
    moves.push_back({kMoves[static_cast<std::size_t>(move.move)], move.item});
  return {{"weir_schedule", kVersion},
          {"budget_bytes", schedule.budget.n},
          {"first", schedule.first},
          {"ops", std::move(ops)},
          {"moves", std::move(moves)}};
}

Move move_named(const std::string& name) {
  const auto found = std::ranges::find(kMoves, name);
  if (found == std::end(kMoves))
    throw BadInput(fmt::format("there is no move {}", trace::quoted(name)));
  return static_cast<Move>(found - std::begin(kMoves));
}

std::uint64_t digest_in(const std::string& text) {
  std::size_t end = 0;
  const std::uint64_t digest = text.size() == 16 ? std::stoull(text, &end, 16) : 0;
  if (end != 16) throw BadInput(fmt::format("{} is no digest", trace::quoted(text)));
  return digest;
}

Schedule schedule_in(const Json& json) {
  if (json.at("weir_schedule") != kVersion)
    throw BadInput(fmt::format("its version is not {}", kVersion));
  Schedule schedule;
  schedule.budget = {json.at("budget_bytes").get<std::int64_t>()};
  schedule.first = json.at("first").get<std::uint32_t>();
  for (const Json& op : json.at("ops"))
    schedule.ops.push_back({op.at(0).get<std::string>(), digest_in(op.at(1).get<std::string>())});
  for (const Json& move : json.at("moves"))
    schedule.moves.push_back(
        {move_named(move.at(0).get<std::string>()), move.at(1).get<std::uint32_t>()});
  return schedule;
}

}  // namespace

void write_schedule(const std::filesystem::path& path, const Schedule& schedule) {
  trace::FileSink file{path};
  file.write(json_of(schedule).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  file.finish();
}

Schedule read_schedule(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file)
    throw BadInput(
        fmt::format("{}: cannot be opened; check the path", trace::printable(path.native())));
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  try {
    return schedule_in(Json::parse(text));
  } catch (const std::exception& error) {
    throw BadInput(fmt::format("{}: no schedule ({}); write one with weir plan -o",
                               trace::printable(path.native()), error.what()));
  }
}

}  // namespace weir::app
