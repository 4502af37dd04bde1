#include "trace/dtr_names.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace weir::trace {
namespace {

std::optional<std::uint64_t> number_in(std::string_view name) {
  if (name.size() < 2 || name[0] != 'x') return std::nullopt;
  if (name[1] == '0' && name.size() > 2) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = name.data() + name.size();
  auto [stop, error] = std::from_chars(name.data() + 1, end, number);
  if (error != std::errc{} || stop != end || number > kMostNumber) return std::nullopt;
  return number;
}

}  // namespace

DtrNames::Slot DtrNames::slot(std::string_view name) {
  if (auto number = number_in(name)) return slot(*number);
  auto [place, is_new] = worded_.try_emplace(std::string(name));
  if (is_new) place->second = add(kNotNumbered);
  return place->second;
}

DtrNames::Slot DtrNames::add(std::uint32_t number) {
  bindings_.push_back({.number = number});
  return Slot{static_cast<std::uint32_t>(bindings_.size() - 1)};
}

DtrNames::Slot DtrNames::add_numbered(std::uint64_t number) {
  Slot slot = add(static_cast<std::uint32_t>(number));
  numbered_.set(number, index(slot));
  return slot;
}

std::string DtrNames::text(Slot slot) const {
  std::uint32_t number = bindings_[index(slot)].number;
  if (number != kNotNumbered) return fmt::format("x{}", number);
  for (const auto& [name, other] : worded_)
    if (other == slot) return name;
  return "?";
}

}  // namespace weir::trace
