#pragma once

#include <cstdint>

#include "weir/trace.h"

namespace weir::pages {

// Of a block whose pages are another's for a while.
enum class Address : std::uint8_t {
  Stays,  // pages are moved to where they are wanted
  Goes,   // it gets another
};

// Tries out on this machine, in some milliseconds, what it costs to take the pages of a block for
// another and to give it others later, beside a thread that computes.
[[nodiscard]] Turnover measure_turnover(Address address);

}  // namespace weir::pages
