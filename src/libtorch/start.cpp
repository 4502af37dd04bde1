#include "libtorch/start.h"

#include <nlohmann/json.hpp>

#include "libtorch/faults.h"
#include "libtorch/fork.h"
#include "libtorch/key.h"
#include "weir/errors.h"

namespace weir::libtorch {

namespace {

using nlohmann::json;

Bytes bytes(const json& options, const char* key) { return {options.value(key, std::int64_t{0})}; }

Addresses addresses(const std::string& name) {
  if (name == "auto") return Addresses::Auto;
  if (name == "move") return Addresses::Move;
  if (name == "keep") return Addresses::Keep;
  throw BadInput{"addresses cannot be \"" + name + "\"; give auto, move or keep"};
}

}  // namespace

RunOptions read_options(const std::string& text) try {
  const json given = json::parse(text);
  RunOptions options;
  options.budget = bytes(given, "budget");
  options.fraction = given.value("fraction", 0.0);
  options.peak = bytes(given, "peak");
  options.trace = given.value("trace", "");
  if (const std::string policy = given.value("policy", ""); !policy.empty())
    options.policy = policy;
  if (const Bytes smallest = bytes(given, "smallest"); smallest > Bytes{})
    options.smallest = smallest;
  options.recompute = given.value("recompute", true);
  options.tier = given.value("tier", "");
  options.checksum = given.value("checksum", false);
  options.plans = given.value("plans", "");
  options.addresses = addresses(given.value("addresses", "auto"));
  return options;
} catch (const json::exception& error) {
  throw BadInput{std::string{"the options of the runtime cannot be read: "} + error.what()};
}

void check_options(const RunOptions& options) {
  if (options.budget <= Bytes{} && options.fraction <= 0)
    throw BadInput{"a budget is needed: bytes, or a fraction of the peak"};
  if (!options.recompute && options.tier == "none")
    throw BadInput{"without recomputing and without a tier nothing could make room; allow one"};
}

void begin(const RunOptions& options) {
  check_options(options);
  if (in_forked_child())
    throw BadInput{
        "this process was forked from one with a budget, and can have none of its own; "
        "start it as a program of its own (spawn)"};
  catch_faults();
  follow_forks();
  Runtime::get().start(options);
  interpose(true);
}

}  // namespace weir::libtorch
