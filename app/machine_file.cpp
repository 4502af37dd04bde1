#include "machine_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cost/op_tensors.h"
#include "json_fields.h"
#include "trace/message.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

using Json = nlohmann::ordered_json;

struct Unit {
  std::string_view name;
  double size;
};
constexpr Unit kRates[] = {{"", 1}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}};
constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr double kMostRate = 1e21, kMostTime = 1e15;
constexpr std::size_t kMostPoints = 10'000;

std::string phase_name(std::size_t phase) {
  return std::string{cost::name(static_cast<Phase>(phase))};
}

// A number above 0 and one of the units.
std::optional<double> amount_in(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view rest{end, static_cast<std::size_t>(last - end)};
  const auto unit = std::ranges::find(units, rest, &Unit::name);
  if (unit == units.end() || !(number > 0)) return std::nullopt;
  return number * unit->size;
}

Bytes capacity_in(std::string_view what, std::string_view text) {
  try {
    if (const Bytes bytes = base::parse_bytes(text); bytes > Bytes{0}) return bytes;
  } catch (const BadInput& problem) {
    throw BadInput(fmt::format("{}: {}", what, problem.what()));
  }
  throw BadInput(
      fmt::format("{}: {} is no room at all; give bytes as 40MiB", what, trace::quoted(text)));
}

// "a,b:c": single values, and ranges that double.
template <typename Value, typename Parse, typename Twice>
std::vector<Value> doubling(std::string_view what, std::string_view text, Parse parse,
                            Twice twice) {
  std::vector<Value> values;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t colon = part.find(':');
    const Value first = parse(part.substr(0, colon));
    const Value last = colon == std::string_view::npos ? first : parse(part.substr(colon + 1));
    if (last < first)
      throw BadInput(fmt::format("{}: {} ends before it begins", what, trace::quoted(part)));
    for (Value value = first; value <= last; value = twice(value)) values.push_back(value);
    if (values.back() < last) values.push_back(last);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  if (values.size() > kMostPoints)
    throw BadInput(
        fmt::format("{} has {} values; give at most {}", what, values.size(), kMostPoints));
  return values;
}

cost::CacheLevel cache_in(const Json& object, const std::string& what) {
  check_keys(object, what, {"capacity", "bandwidth"});
  cost::CacheLevel cache{capacity_in(what, text_in(object, what, "capacity"))};
  if (object.contains("bandwidth"))
    cache.bytes_per_nano = bandwidth_in(what, text_in(object, what, "bandwidth"));
  return cache;
}

void read_kernels(const Json& object, cost::Machine& machine) {
  if (!object.is_object()) throw BadInput("\"kernels\" is no object");
  for (const auto& [key, value] : object.items()) {
    std::size_t kernel = 0;
    while (kernel < cost::kKernels && cost::name(static_cast<cost::Kernel>(kernel)) != key)
      ++kernel;
    if (kernel == cost::kKernels)
      throw BadInput(fmt::format("\"kernels\" has {}, which no op is", trace::quoted(key)));
    machine.kernel_flops_per_nano[kernel] =
        flops_in("\"kernels\"", text_in(object, "\"kernels\"", key.c_str()));
  }
}

Nanos latency_in(const Json& object, const std::string& key) {
  const Json latency = object.value(key, Json(0));
  if (!latency.is_number_integer() || latency < 0 || latency > kMostNanos.n)
    throw BadInput(fmt::format("\"{}\" is no whole number from 0 on", key));
  return {latency.get<std::int64_t>()};
}

void read_phases(const Json& object, cost::Machine& machine) {
  const std::string names[] = {phase_name(0), phase_name(1), phase_name(2)};
  check_keys(object, "\"phase_latency_ns\"", {names[0], names[1], names[2]});
  for (std::size_t phase = 0; phase < cost::kPhases; ++phase)
    machine.phase_latency[phase] = latency_in(object, names[phase]);
}

std::int64_t side_in(const Json& object, const std::string& what, const char* key) {
  const Json side = object.value(key, Json(1));
  if (side.is_number_integer() && side > 0 && side < cost::kMostWork)
    return side.get<std::int64_t>();
  throw BadInput(fmt::format("{}: \"{}\" is no whole number from 1 on", what, key));
}

cost::ProductRate product_in(const Json& object, const std::string& what) {
  check_keys(object, what, {"op", "batch", "m", "n", "k", "window", "flops"});
  const Json window = object.value("window", Json(1));
  if (!window.is_number() || !(window > 0))
    throw BadInput(fmt::format("{}: \"window\" is no number above 0", what));
  return {text_in(object, what, "op"),
          {.batch = side_in(object, what, "batch"),
           .m = side_in(object, what, "m"),
           .n = side_in(object, what, "n"),
           .k = side_in(object, what, "k"),
           .window = window.get<double>()},
          flops_in(what, text_in(object, what, "flops"))};
}

std::vector<cost::NamedRate> ops_in(const Json& object, const char* key) {
  const Json ops = object.value(key, Json::object());
  const std::string what = fmt::format("\"{}\"", key);
  if (!ops.is_object()) throw BadInput(what + " is no object");
  std::vector<cost::NamedRate> rates;
  for (const auto& [op, value] : ops.items())
    rates.push_back({op, bandwidth_in(what, text_in(ops, what, op.c_str()))});
  return rates;
}

void read_measured(const Json& object, cost::Machine& machine) {
  machine.ops = ops_in(object, "ops");
  machine.memory_ops = ops_in(object, "memory_ops");
  const Json products = object.value("products", Json::array());
  if (!products.is_array()) throw BadInput("\"products\" is no list");
  for (const Json& product : products)
    machine.products.push_back(
        product_in(product, fmt::format("product {}", machine.products.size() + 1)));
  read_phases(object.value("phase_latency_ns", Json::object()), machine);
  if (object.contains("fresh_bandwidth"))
    machine.fresh_bytes_per_nano =
        bandwidth_in("\"fresh_bandwidth\"", text_in(object, "the machine", "fresh_bandwidth"));
}

cost::Machine machine_in(const Json& object) {
  check_keys(
      object, "the machine",
      {"weir_machine", "name", "about", "caches", "bandwidth", "flops", "kernels", "dtypes",
       "op_latency_ns", "phase_latency_ns", "fresh_bandwidth", "ops", "memory_ops", "products"});
  if (!object.contains("weir_machine") || object["weir_machine"] != 1)
    throw BadInput("is no machine file; its \"weir_machine\" must be 1");
  cost::Machine machine;
  if (object.contains("name")) machine.name = text_in(object, "the machine", "name");
  machine.bytes_per_nano =
      bandwidth_in("\"bandwidth\"", text_in(object, "the machine", "bandwidth"));
  machine.flops_per_nano = flops_in("\"flops\"", text_in(object, "the machine", "flops"));
  const Json caches = object.value("caches", Json::array());
  if (!caches.is_array()) throw BadInput("\"caches\" is no list");
  for (const Json& cache : caches)
    machine.caches.push_back(cache_in(cache, fmt::format("cache {}", machine.caches.size() + 1)));
  if (std::ranges::adjacent_find(machine.caches, std::greater_equal<>{},
                                 &cost::CacheLevel::capacity) != machine.caches.end())
    throw BadInput("\"caches\" do not grow; give the smallest first");
  read_kernels(object.value("kernels", Json::object()), machine);
  const Json dtypes = object.value("dtypes", Json::object());
  if (!dtypes.is_object()) throw BadInput("\"dtypes\" is no object");
  for (const auto& [dtype, value] : dtypes.items())
    machine.dtypes.push_back(
        {dtype, flops_in("\"dtypes\"", text_in(dtypes, "\"dtypes\"", dtype.c_str()))});
  machine.op_latency = latency_in(object, "op_latency_ns");
  read_measured(object, machine);
  return machine;
}

std::string flops_text(double flops_per_nano) { return fmt::format("{:.4f}G", flops_per_nano); }

std::string bandwidth_text(double bytes_per_nano) {
  return fmt::format("{}B/s", std::max<std::int64_t>(std::llround(bytes_per_nano * 1e9), 1));
}

Json json_of(const cost::ProductRate& product) {
  return {{"op", product.op},
          {"batch", product.gemm.batch},
          {"m", product.gemm.m},
          {"n", product.gemm.n},
          {"k", product.gemm.k},
          {"window", product.gemm.window},
          {"flops", flops_text(product.flops_per_nano)}};
}

}  // namespace

Json json_of(const cost::Machine& machine) {
  Json json = {{"weir_machine", 1},
               {"name", machine.name},
               {"bandwidth", bandwidth_text(machine.bytes_per_nano)},
               {"flops", flops_text(machine.flops_per_nano)},
               {"caches", Json::array()},
               {"kernels", Json::object()},
               {"op_latency_ns", machine.op_latency.n},
               {"phase_latency_ns", Json::object()}};
  for (const cost::CacheLevel& cache : machine.caches) {
    Json one = {{"capacity", fmt::format("{}B", cache.capacity.n)}};
    if (std::isfinite(cache.bytes_per_nano))
      one["bandwidth"] = bandwidth_text(cache.bytes_per_nano);
    json["caches"].push_back(std::move(one));
  }
  for (std::size_t i = 0; i < cost::kKernels; ++i)
    if (const double rate = machine.kernel_flops_per_nano[i]; rate > 0)
      json["kernels"][std::string{cost::name(static_cast<cost::Kernel>(i))}] = flops_text(rate);
  for (std::size_t i = 0; i < cost::kPhases; ++i)
    json["phase_latency_ns"][phase_name(i)] = machine.phase_latency[i].n;
  if (std::isfinite(machine.fresh_bytes_per_nano))
    json["fresh_bandwidth"] = bandwidth_text(machine.fresh_bytes_per_nano);
  json["ops"] = Json::object();
  for (const cost::NamedRate& op : machine.ops)
    json["ops"][op.op] = bandwidth_text(op.bytes_per_nano);
  json["memory_ops"] = Json::object();
  for (const cost::NamedRate& op : machine.memory_ops)
    json["memory_ops"][op.op] = bandwidth_text(op.bytes_per_nano);
  json["products"] = Json::array();
  for (const cost::ProductRate& product : machine.products)
    json["products"].push_back(json_of(product));
  return json;
}

double bandwidth_in(std::string_view what, std::string_view text) {
  constexpr std::string_view kSecond = "/s";
  if (text.ends_with(kSecond))
    return static_cast<double>(capacity_in(what, text.substr(0, text.size() - kSecond.size())).n) /
           1e9;
  throw BadInput(
      fmt::format("{}: {} is no bandwidth; give it as 900GB/s", what, trace::quoted(text)));
}

double flops_in(std::string_view what, std::string_view text) {
  const auto rate = amount_in(text, kRates);
  if (rate && *rate <= kMostRate) return *rate / 1e9;
  throw BadInput(fmt::format("{}: {} is no number of operations a second; give it as 19T or 500G",
                             what, trace::quoted(text)));
}

double nanos_in(std::string_view what, std::string_view text) {
  const auto time = amount_in(text, kTimes);
  if (time && *time <= kMostTime) return *time;
  throw BadInput(
      fmt::format("{}: {} is no time; give it as 10ms or 1.5s", what, trace::quoted(text)));
}

std::vector<Bytes> capacities_in(std::string_view text) {
  return doubling<Bytes>(
      "--cache", text, [](std::string_view one) { return capacity_in("--cache", one); },
      [](Bytes bytes) { return bytes + bytes; });
}

std::vector<double> bandwidths_in(std::string_view text) {
  return doubling<double>(
      "--bandwidth", text, [](std::string_view one) { return bandwidth_in("--bandwidth", one); },
      [](double rate) { return 2 * rate; });
}

cost::Machine read_machine(const std::filesystem::path& path) {
  std::ifstream in{path};
  std::error_code ignored;
  if (!in || !std::filesystem::is_regular_file(path, ignored))
    throw BadInput(trace::located(
        path.native(), "cannot be read; give a machine file, as docs/cost_model.md describes it"));
  try {
    return machine_in(Json::parse(in));
  } catch (const Json::parse_error&) {
    throw BadInput(trace::located(path.native(), "is no JSON; give a machine file"));
  } catch (const BadInput& problem) {
    throw BadInput(trace::located(path.native(), problem.what()));
  }
}

}  // namespace weir::app
