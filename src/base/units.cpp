#include "base/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>

#include "weir/errors.h"

namespace weir::base {
namespace {

constexpr const char* kBytesHelp = "give bytes as 4096, 1500MB or 1.5GiB";
constexpr const char* kBudgetHelp =
    "give bytes (4096, 1500MB, 1.5GiB) or a share of the peak (0.5x)";
constexpr const char* kRangeHelp = "give first:last:step as shares of the peak (0.1:1.0:0.05)";

constexpr double kMostShare = 1000.0;
constexpr double kLeastStep = 1e-9;
constexpr double kMostPoints = 100'000;

struct Unit {
  std::string_view name;
  std::int64_t size;
};

constexpr Unit kByteUnits[] = {
    {"", 1},
    {"B", 1},
    {"KiB", std::int64_t{1} << 10},
    {"MiB", std::int64_t{1} << 20},
    {"GiB", std::int64_t{1} << 30},
    {"TiB", std::int64_t{1} << 40},
    {"kB", 1'000},
    {"KB", 1'000},
    {"MB", 1'000'000},
    {"GB", 1'000'000'000},
    {"TB", 1'000'000'000'000},
};

constexpr Unit kByteScale[] = {
    {"B", 1},
    {"KiB", std::int64_t{1} << 10},
    {"MiB", std::int64_t{1} << 20},
    {"GiB", std::int64_t{1} << 30},
    {"TiB", std::int64_t{1} << 40},
};

constexpr Unit kTimeScale[] = {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};

// The user's text on one line, however long or strange it is.
std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string shown{text.substr(0, kMost)};
  std::ranges::replace_if(
      shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  return '\'' + shown + (text.size() > kMost ? "...'" : "'");
}

[[noreturn]] void reject(std::string_view text, const char* problem, const char* help) {
  throw BadInput{quoted(text) + ' ' + problem + "; " + help};
}

struct Number {
  double value;
  bool whole;             // written without a decimal point
  std::string_view rest;  // what follows it
};

// Digits with at most one point: no sign, exponent, "inf" or "nan".
std::optional<Number> leading_number(std::string_view text) {
  if (text.empty() || (text[0] != '.' && (text[0] < '0' || text[0] > '9'))) return std::nullopt;
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, std::chars_format::fixed);
  if (error != std::errc{}) return std::nullopt;
  const auto length = static_cast<std::size_t>(end - text.data());
  const bool whole = text.substr(0, length).find('.') == std::string_view::npos;
  return Number{value, whole, text.substr(length)};
}

Bytes bytes_of(std::string_view text, const char* help) {
  const std::optional<Number> number = leading_number(text);
  if (!number) reject(text, "is not an amount of memory", help);
  std::string_view name = number->rest;
  if (name.size() > 1 && name.front() == ' ') name.remove_prefix(1);
  const auto* const unit = std::ranges::find(kByteUnits, name, &Unit::name);
  if (unit == std::end(kByteUnits)) reject(text, "has no unit that is known", help);
  if (unit->size == 1 && !number->whole) reject(text, "is not a whole number of bytes", help);
  const double exact = number->value * static_cast<double>(unit->size);
  if (exact > static_cast<double>(kMostBytes.n)) reject(text, "is more than 1024 TiB", help);
  return {std::llround(exact)};
}

PeakShare checked_share(double share, std::string_view text, const char* help) {
  if (share <= 0) reject(text, "leaves no memory at all", help);
  if (share > kMostShare) reject(text, "is more than 1000 times the peak", help);
  return {share};
}

// A number with or without the x.
std::optional<double> share_in_range(std::string_view text) {
  const std::optional<Number> number = leading_number(text);
  if (!number || (!number->rest.empty() && number->rest != "x")) return std::nullopt;
  return number->value;
}

// k / 1e12 is correctly rounded, so 0.1 + 2 * 0.1 becomes the double that is written 0.3.
double to_12_decimals(double value) { return std::round(value * 1e12) / 1e12; }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at != std::string_view::npos;) {
    const std::size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    at = end == std::string_view::npos ? end : end + 1;
  }
  return parts;
}

void append_range(std::string_view text, std::vector<BudgetSpec>& budgets) {
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() != 3) reject(text, "is not a range", kRangeHelp);
  std::array<double, 3> numbers{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::optional<double> number = share_in_range(parts[i]);
    if (!number) reject(text, "is not a range of shares", kRangeHelp);
    numbers[i] = *number;
  }
  const auto [first, last, step] = numbers;
  if (step < kLeastStep) reject(text, "has a step that is too small", kRangeHelp);
  if (last < first) reject(text, "ends before it begins", kRangeHelp);
  // The small term lets 0.1:0.3:0.1 reach 0.3 although (0.3 - 0.1) / 0.1 is below 2.
  const double points = std::floor((last - first) / step + 1e-6) + 1;
  if (points + static_cast<double>(budgets.size()) > kMostPoints) {
    reject(text, "makes the list longer than 100000 budgets", kRangeHelp);
  }
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(points); ++i) {
    const double share = to_12_decimals(first + static_cast<double>(i) * step);
    budgets.push_back({checked_share(share, text, kRangeHelp)});
  }
}

std::string two_decimals(double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.2f", value);
  return buffer.data();
}

// `scale` ascends and starts with the unit in which n is counted.
std::string scaled(std::int64_t n, std::span<const Unit> scale) {
  const double value = static_cast<double>(n);
  // 1023.996 KiB would be shown as 1024.00 KiB: it belongs to the next unit.
  const auto fits = [&](const Unit& unit) {
    return std::abs(value) >= static_cast<double>(unit.size) * 0.999995;
  };
  std::size_t at = scale.size() - 1;
  while (at > 0 && !fits(scale[at])) --at;
  const std::string number =
      at == 0 ? std::to_string(n) : two_decimals(value / static_cast<double>(scale[at].size));
  return number + ' ' + std::string{scale[at].name};
}

}  // namespace

Bytes parse_bytes(std::string_view text) { return bytes_of(text, kBytesHelp); }

std::string format_bytes(Bytes bytes) { return scaled(bytes.n, kByteScale); }

std::string format_nanos(Nanos time) { return scaled(time.n, kTimeScale); }

Bytes BudgetSpec::resolve(Bytes peak) const {
  if (const Bytes* bytes = std::get_if<Bytes>(&amount)) return *bytes;
  const double share = std::get<PeakShare>(amount).of_peak;
  const double exact = share * static_cast<double>(peak.n);
  if (exact >= 1 && exact < 0x1p63) return {static_cast<std::int64_t>(exact)};
  throw BadInput{format_budget(*this) + " of a peak of " + std::to_string(peak.n) +
                 " bytes is no usable budget; give a share that comes to one byte or more"};
}

BudgetSpec parse_budget(std::string_view text) {
  const std::optional<Number> number = leading_number(text);
  if (number && number->rest == "x") {
    return {checked_share(number->value, text, kBudgetHelp)};
  }
  const Bytes bytes = bytes_of(text, kBudgetHelp);
  if (bytes.n == 0) reject(text, "leaves no memory at all", kBudgetHelp);
  return {bytes};
}

std::vector<BudgetSpec> parse_budget_list(std::string_view text) {
  std::vector<BudgetSpec> budgets;
  for (const std::string_view part : split(text, ',')) {
    if (part.find(':') != std::string_view::npos) {
      append_range(part, budgets);
    } else {
      budgets.push_back(parse_budget(part));
    }
  }
  return budgets;
}

std::string format_budget(const BudgetSpec& budget) {
  if (const Bytes* bytes = std::get_if<Bytes>(&budget.amount)) return std::to_string(bytes->n);
  std::array<char, 400> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                    std::get<PeakShare>(budget.amount).of_peak, std::chars_format::fixed);
  return std::string{buffer.data(), end} + 'x';
}

}  // namespace weir::base
