#include "devices_file.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "json_fields.h"
#include "trace/message.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostDevices = 8;
constexpr double kMostFactor = 1e6;

double factor_in(const Json& number, const std::string& what) {
  const double factor = number.is_number() ? number.get<double>() : 0;
  if (factor > 0 && factor <= kMostFactor) return factor;
  throw BadInput(fmt::format("{} is no factor above 0", what));
}

std::vector<Nanos> costs_in(const Json& object, const std::string& what,
                            const plan::Problem& problem) {
  const double general = factor_in(object.value("time", Json(1.0)), what + ": \"time\"");
  const Json of = object.value("time_of", Json::object());
  if (!of.is_object()) throw BadInput(fmt::format("{}: \"time_of\" is no object", what));
  for (const auto& [name, factor] : of.items()) {
    (void)factor_in(factor, fmt::format("{}: the time of {}", what, trace::quoted(name)));
    if (std::ranges::find(problem.ops, name, &plan::ProblemOp::name) == problem.ops.end())
      throw BadInput(fmt::format("{}: the trace has no op {}", what, trace::quoted(name)));
  }
  std::vector<Nanos> costs;
  for (const plan::ProblemOp& op : problem.ops) {
    const double factor = of.contains(op.name) ? of[op.name].get<double>() : general;
    const double cost = std::round(static_cast<double>(op.cost.n) * factor);
    costs.push_back({static_cast<std::int64_t>(std::min(cost, static_cast<double>(kMostNanos.n)))});
  }
  return costs;
}

plan::DeviceSpec device_in(const Json& object, const std::string& what,
                           const plan::Problem& problem) {
  check_keys(object, what, {"name", "budget", "time", "time_of"});
  return {text_in(object, what, "name"),
          base::parse_budget(text_in(object, what, "budget")).resolve(problem.peak),
          costs_in(object, what, problem)};
}

std::uint32_t number_of(const plan::Devices& devices, const std::string& name,
                        const std::string& what) {
  const auto found = std::ranges::find(devices.all, name, &plan::DeviceSpec::name);
  if (found == devices.all.end())
    throw BadInput(fmt::format("{} names {}, which is no device", what, trace::quoted(name)));
  return static_cast<std::uint32_t>(found - devices.all.begin());
}

Lane lane_in(const Json& object, const std::string& what) {
  const std::string speed = text_in(object, what, "speed");
  const Bytes second =
      speed.ends_with("/s") ? base::parse_bytes(speed.substr(0, speed.size() - 2)) : Bytes{};
  if (second.n <= 0)
    throw BadInput(fmt::format("{}: {} is no speed such as 12GB/s", what, trace::quoted(speed)));
  const Json latency = object.value("latency_ns", Json(0u));
  if (!latency.is_number_unsigned() || latency.get<std::uint64_t>() > kMostNanos.n)
    throw BadInput(fmt::format("{}: \"latency_ns\" is no whole number from 0 on", what));
  return {{latency.get<std::int64_t>()}, static_cast<double>(second.n) / 1e9};
}

void add_link(plan::Devices& devices, const Json& object, const std::string& what) {
  check_keys(object, what, {"from", "to", "speed", "latency_ns"});
  const std::uint32_t from = number_of(devices, text_in(object, what, "from"), what);
  const std::uint32_t to = number_of(devices, text_in(object, what, "to"), what);
  std::optional<Lane>& lane = devices.lanes[from * devices.all.size() + to];
  if (from == to || lane)
    throw BadInput(
        fmt::format("{} {}", what, from == to ? "leads back to its device" : "was given before"));
  lane = lane_in(object, what);
}

const Json& list_in(const Json& file, const char* key) {
  if (file.contains(key) && file[key].is_array()) return file[key];
  throw BadInput(fmt::format("there is no list \"{}\"", key));
}

plan::Devices devices_in(const Json& file, const plan::Problem& problem) {
  check_keys(file, "the file", {"devices", "links"});
  plan::Devices devices;
  for (const Json& object : list_in(file, "devices")) {
    const std::string what = fmt::format("device {}", devices.all.size() + 1);
    plan::DeviceSpec device = device_in(object, what, problem);
    if (std::ranges::find(devices.all, device.name, &plan::DeviceSpec::name) != devices.all.end())
      throw BadInput(
          fmt::format("{} is called {} as another is", what, trace::quoted(device.name)));
    devices.all.push_back(std::move(device));
  }
  if (devices.all.empty() || devices.all.size() > kMostDevices)
    throw BadInput(fmt::format("there must be from 1 to {} devices", kMostDevices));
  devices.lanes.resize(devices.all.size() * devices.all.size());
  std::size_t number = 0;
  for (const Json& object : list_in(file, "links"))
    add_link(devices, object, fmt::format("link {}", ++number));
  return devices;
}

}  // namespace

plan::Devices read_devices(const std::filesystem::path& path, const plan::Problem& problem) {
  const std::string name = trace::printable(path.native());
  std::ifstream file{path, std::ios::binary};
  if (!file) throw BadInput(fmt::format("{}: cannot be opened; check the path", name));
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  try {
    return devices_in(Json::parse(text), problem);
  } catch (const Json::exception& error) {
    throw BadInput(fmt::format("{}: no devices ({}); see docs/planner.md for what such a file says",
                               name, trace::printable(error.what())));
  } catch (const BadInput& error) {
    throw BadInput(
        fmt::format("{}: {}; see docs/planner.md for what such a file says", name, error.what()));
  }
}

}  // namespace weir::app
