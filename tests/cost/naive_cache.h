#pragma once

#include <cstdint>

#include "cost/step.h"

namespace weir::cost::test {

struct Moved {
  std::int64_t read = 0, write = 0;  // bytes
};

// The twin of the miss curve: a cache of whole lines with exact LRU, touched line by line. A dirty
// line of an item that does not last is dropped with its last use.
[[nodiscard]] Moved naive_cache(const Step& step, std::int64_t capacity, std::int64_t line);

}  // namespace weir::cost::test
