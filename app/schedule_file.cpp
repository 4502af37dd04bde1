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

constexpr const char* kDeviceMoves[] = {"compute", "copy", "evict"};

Json json_of(const std::vector<OpSignature>& ops) {
  Json json = Json::array();
  for (const OpSignature& op : ops) json.push_back({op.name, fmt::format("{:016x}", op.digest)});
  return json;
}

Json json_of(const Schedule& schedule) {
  Json moves = Json::array();
  for (const ScheduledMove& move : schedule.moves)
    moves.push_back({kMoves[static_cast<std::size_t>(move.move)], move.item});
  return {{"weir_schedule", kVersion},
          {"budget_bytes", schedule.budget.n},
          {"first", schedule.first},
          {"ops", json_of(schedule.ops)},
          {"moves", std::move(moves)}};
}

Json json_of(const plan::DeviceSchedule& schedule, const plan::Devices& devices) {
  Json moves = Json::array();
  for (const plan::DeviceAction& action : schedule.actions) {
    Json move = {kDeviceMoves[static_cast<std::size_t>(action.move)], action.item,
                 devices[action.device].name};
    if (action.move == plan::DeviceMove::Copy) move.push_back(devices[action.from].name);
    moves.push_back(std::move(move));
  }
  return {{"weir_device_schedule", kVersion},
          {"ops", json_of(schedule.ops)},
          {"moves", std::move(moves)}};
}

template <typename Kind, std::size_t count>
Kind move_named(const std::string& name, const char* const (&names)[count]) {
  const auto found = std::ranges::find(names, name);
  if (found == std::end(names))
    throw BadInput(fmt::format("there is no move {}", trace::quoted(name)));
  return static_cast<Kind>(found - std::begin(names));
}

plan::DeviceId device_named(const std::string& name, const plan::Devices& devices) {
  const auto found = std::ranges::find(devices.all, name, &plan::DeviceSpec::name);
  if (found == devices.all.end())
    throw BadInput(fmt::format("there is no device {}", trace::quoted(name)));
  return plan::DeviceId{static_cast<std::uint32_t>(found - devices.all.begin())};
}

std::uint64_t digest_in(const std::string& text) {
  std::size_t end = 0;
  const std::uint64_t digest = text.size() == 16 ? std::stoull(text, &end, 16) : 0;
  if (end != 16) throw BadInput(fmt::format("{} is no digest", trace::quoted(text)));
  return digest;
}

std::vector<OpSignature> ops_in(const Json& json) {
  std::vector<OpSignature> ops;
  for (const Json& op : json.at("ops"))
    ops.push_back({op.at(0).get<std::string>(), digest_in(op.at(1).get<std::string>())});
  return ops;
}

void check_version(const Json& version) {
  if (version != kVersion) throw BadInput(fmt::format("its version is not {}", kVersion));
}

Schedule schedule_in(const Json& json) {
  check_version(json.at("weir_schedule"));
  Schedule schedule;
  schedule.budget = {json.at("budget_bytes").get<std::int64_t>()};
  schedule.first = json.at("first").get<std::uint32_t>();
  schedule.ops = ops_in(json);
  for (const Json& move : json.at("moves"))
    schedule.moves.push_back(
        {move_named<Move>(move.at(0).get<std::string>(), kMoves), move.at(1).get<std::uint32_t>()});
  return schedule;
}

plan::DeviceSchedule device_schedule_in(const Json& json, const plan::Devices& devices) {
  check_version(json.at("weir_device_schedule"));
  plan::DeviceSchedule schedule{.ops = ops_in(json), .actions = {}};
  for (const Json& move : json.at("moves")) {
    plan::DeviceAction action{
        move_named<plan::DeviceMove>(move.at(0).get<std::string>(), kDeviceMoves),
        move.at(1).get<std::uint32_t>(), device_named(move.at(2).get<std::string>(), devices)};
    if (action.move == plan::DeviceMove::Copy)
      action.from = device_named(move.at(3).get<std::string>(), devices);
    schedule.actions.push_back(action);
  }
  return schedule;
}

void write(const std::filesystem::path& path, const Json& json) {
  trace::FileSink file{path};
  file.write(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  file.finish();
}

template <typename Read>
auto read(const std::filesystem::path& path, const Read& what_is_in) {
  std::ifstream file{path, std::ios::binary};
  if (!file)
    throw BadInput(
        fmt::format("{}: cannot be opened; check the path", trace::printable(path.native())));
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  try {
    return what_is_in(Json::parse(text));
  } catch (const std::exception& error) {
    throw BadInput(fmt::format("{}: no schedule ({}); write one with weir plan -o",
                               trace::printable(path.native()), error.what()));
  }
}

}  // namespace

void write_schedule(const std::filesystem::path& path, const Schedule& schedule) {
  write(path, json_of(schedule));
}

Schedule read_schedule(const std::filesystem::path& path) { return read(path, schedule_in); }

void write_schedule(const std::filesystem::path& path, const plan::DeviceSchedule& schedule,
                    const plan::Devices& devices) {
  write(path, json_of(schedule, devices));
}

plan::DeviceSchedule read_device_schedule(const std::filesystem::path& path,
                                          const plan::Devices& devices) {
  return read(path, [&](const Json& json) { return device_schedule_in(json, devices); });
}

}  // namespace weir::app
