#pragma once

#include <optional>
#include <string_view>

#include "tier/file_tier.h"

namespace weir::tier {

// A tier as the user says it.
struct TierSpec {
  std::optional<FileTierOptions> file;  // nothing: no tier is wanted
};

// "PATH:20GiB"; "PATH", with the free space less a tenth; ":20GiB", in the default folder; "none".
// Throws BadInput. What follows the last colon is a capacity unless it has a slash in it. Whether
// the folder can be used is found out by FileTier.
[[nodiscard]] TierSpec parse_tier(std::string_view text);

}  // namespace weir::tier
