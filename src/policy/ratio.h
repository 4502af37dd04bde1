#pragma once

#include <cstdint>
#include <limits>

#include "weir/types.h"

namespace weir::policy {

__extension__ typedef __int128 Wide;

// numerator / denominator, rounded as if computed exactly, as Python does, so that ties are ties.
// Always so up to 2^53; above that the long double may round a second time, which is rare.
inline double ratio(std::int64_t numerator, Wide denominator) {
  constexpr Wide kExact = Wide{1} << 53;
  if (denominator <= kExact && numerator <= kExact) [[likely]]
    return static_cast<double>(numerator) /
           static_cast<double>(static_cast<std::int64_t>(denominator));
  return static_cast<double>(static_cast<long double>(numerator) /
                             static_cast<long double>(denominator));
}

// What nothing would be won by, or what is in use right now, goes last.
inline double score(Nanos cost, Wide denominator) {
  return denominator > 0 ? ratio(cost.n, denominator) : std::numeric_limits<double>::infinity();
}

inline double score(Nanos cost, Bytes size, Nanos staleness) {
  return score(cost, Wide{size.n} * staleness.n);
}

}  // namespace weir::policy
