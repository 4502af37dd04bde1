#include "tier/spec.h"

#include <string>

#include "base/units.h"
#include "weir/errors.h"

namespace weir::tier {
namespace {

constexpr const char* kHelp = "give a tier as PATH:20GiB, PATH or none";

Bytes capacity_of(std::string_view text) {
  Bytes capacity;
  try {
    capacity = base::parse_bytes(text);
  } catch (const BadInput& problem) {
    throw BadInput{"tier capacity " + std::string{problem.what()} +
                   " (a path that has a colon in its last part needs a slash at its end)"};
  }
  if (capacity.n < kPage)
    throw BadInput{"tier capacity '" + std::string{text} + "' holds nothing; give at least 4KiB"};
  return capacity;
}

}  // namespace

TierSpec parse_tier(std::string_view text) {
  if (text == "none") return {};
  if (text.empty()) throw BadInput{std::string{"the tier is empty; "} + kHelp};
  if (text.find('\0') != std::string_view::npos)
    throw BadInput{std::string{"the tier has a zero byte in it; "} + kHelp};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.find('/', colon) != std::string_view::npos)
    return {FileTierOptions{.folder = text}};
  return {FileTierOptions{.folder = text.substr(0, colon),
                          .capacity = capacity_of(text.substr(colon + 1))}};
}

}  // namespace weir::tier
