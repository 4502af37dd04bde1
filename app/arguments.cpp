#include "arguments.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>
#include <thread>

#include <fmt/format.h>

#include "trace/message.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

using trace::quoted;

template <typename Value>
struct Named {
  std::string_view name;
  Value value;
};

constexpr Named<RestoreOrder> kRestoreOrders[] = {{"lean", RestoreOrder::Lean},
                                                  {"depth_first", RestoreOrder::DepthFirst}};
constexpr Named<Deallocation> kDeallocations[] = {{"eager", Deallocation::EagerEvict},
                                                  {"ignore", Deallocation::Ignore},
                                                  {"banish", Deallocation::Banish}};

constexpr double kMostLimit = 1e9;
constexpr std::uint64_t kMostTrials = 10'000, kMostJobs = 1024;
constexpr double kLeastStep = 1e-5;

template <typename Value>
std::string_view name_in(std::span<const Named<Value>> table, Value value) {
  return std::ranges::find(table, value, &Named<Value>::value)->name;
}

template <typename Value>
Value value_in(std::span<const Named<Value>> table, std::string_view option,
               std::string_view text) {
  const auto found = std::ranges::find(table, text, &Named<Value>::name);
  if (found != table.end()) return found->value;
  std::string known;
  for (const Named<Value>& entry : table)
    known += fmt::format("{}{}", known.empty() ? "" : " or ", entry.name);
  throw BadInput(fmt::format("{} cannot be {}; give {}", option, quoted(text), known));
}

std::vector<std::string_view> names_in(std::string_view option, std::string_view text) {
  std::vector<std::string_view> names;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    if (name.empty())
      throw BadInput(fmt::format("{} has an empty name; give names between commas", option));
    if (std::ranges::find(names, name) != names.end())
      throw BadInput(fmt::format("{} has {} twice; give it once", option, quoted(name)));
    names.push_back(name);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return names;
}

template <typename Value, typename Parse>
std::vector<Value> values_in(std::string_view option, std::string_view text, Parse parse) {
  std::vector<Value> values;
  for (const std::string_view name : names_in(option, text)) values.push_back(parse(name));
  return values;
}

// All of the text, or nothing.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::uint64_t whole_number_in(std::string_view option, std::string_view text, std::uint64_t least,
                              std::uint64_t most) {
  const auto number = number_in<std::uint64_t>(text);
  if (number && *number >= least && *number <= most) return *number;
  throw BadInput(fmt::format("{} cannot be {}; give a whole number from {} to {}", option,
                             quoted(text), least, most));
}

double real_number_in(std::string_view option, std::string_view text, double least, double most,
                      std::string_view help) {
  const auto number = number_in<double>(text);
  if (number && *number >= least && *number <= most) return *number;  // false for nan
  throw BadInput(fmt::format("{} cannot be {}; give {}", option, quoted(text), help));
}

}  // namespace

std::string_view name(RestoreOrder order) { return name_in<RestoreOrder>(kRestoreOrders, order); }

std::string_view name(Deallocation deallocation) {
  return name_in<Deallocation>(kDeallocations, deallocation);
}

RestoreOrder restore_order(std::string_view text) {
  return value_in<RestoreOrder>(kRestoreOrders, "--restore", text);
}

Deallocation deallocation(std::string_view text) {
  return value_in<Deallocation>(kDeallocations, "--deallocation", text);
}

std::vector<RestoreOrder> restore_orders(std::string_view text) {
  return values_in<RestoreOrder>("--restore", text, restore_order);
}

std::vector<Deallocation> deallocations(std::string_view text) {
  return values_in<Deallocation>("--deallocation", text, deallocation);
}

std::vector<const PolicyEntry*> policies_in(std::string_view text) {
  if (text != "all")
    return values_in<const PolicyEntry*>(
        "--policies", text, [](std::string_view policy) { return &find_policy(policy); });
  std::vector<const PolicyEntry*> all;
  for (const PolicyEntry& entry : policies()) all.push_back(&entry);
  return all;
}

std::vector<base::BudgetSpec> budgets_in(std::string_view text) {
  std::vector<base::BudgetSpec> budgets = base::parse_budget_list(text);
  std::vector<std::string> seen;
  seen.reserve(budgets.size());
  for (const base::BudgetSpec& budget : budgets) seen.push_back(base::format_budget(budget));
  std::ranges::sort(seen);
  if (const auto twice = std::ranges::adjacent_find(seen); twice != seen.end())
    throw BadInput(fmt::format("--budgets has {} twice; give it once", *twice));
  return budgets;
}

std::optional<double> limit_in(std::string_view text) {
  if (text == "none") return std::nullopt;
  return real_number_in("--limit", text, 1.0, kMostLimit, "a slowdown from 1 on, or none");
}

double step_in(std::string_view text) {
  return real_number_in("--step", text, kLeastStep, 1.0,
                        "a share of the peak from 0.00001 to 1, such as 0.01");
}

std::uint64_t seed_in(std::string_view text) {
  return whole_number_in("--seed", text, 0, std::numeric_limits<std::uint64_t>::max());
}

std::uint32_t trials_in(std::string_view text) {
  return static_cast<std::uint32_t>(whole_number_in("--trials", text, 1, kMostTrials));
}

plan::TierSpec tier_in(std::string_view text) {
  constexpr std::string_view kHelp = "give a tier as 2GiB,write=2GB/s,read=1GB/s";
  plan::TierSpec tier;
  std::size_t comma = text.find(',');
  try {
    tier.capacity = base::parse_bytes(text.substr(0, comma));
    while (comma != std::string_view::npos) {
      text.remove_prefix(comma + 1);
      comma = text.find(',');
      const std::string_view part = text.substr(0, comma);
      const bool writes = part.starts_with("write="), reads = part.starts_with("read=");
      Lane& lane = writes ? tier.link.write : tier.link.read;
      if ((!writes && !reads) || lane.bytes_per_nano != 0 || !part.ends_with("/s"))
        throw BadInput(fmt::format("{} is no speed", quoted(part)));
      const std::size_t begin = part.find('=') + 1;
      const Bytes second = base::parse_bytes(part.substr(begin, part.size() - 2 - begin));
      lane.bytes_per_nano = static_cast<double>(second.n) / 1e9;
    }
  } catch (const BadInput& problem) {
    throw BadInput(fmt::format("--tier: {}; {}", problem.what(), kHelp));
  }
  const Link& link = tier.link;
  if (link.write.bytes_per_nano <= 0 || link.read.bytes_per_nano <= 0)
    throw BadInput(fmt::format("--tier lacks a speed to write or to read; {}", kHelp));
  return tier;
}

unsigned jobs_in(std::string_view text) {
  if (text == "all") return std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(whole_number_in("--jobs", text, 1, kMostJobs));
}

}  // namespace weir::app
