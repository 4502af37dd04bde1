#pragma once

#include <cstdint>

#include "weir/types.h"

namespace weir {

// Knows, or guesses, when a storage is used next.
class Predictor {
 public:
  static constexpr std::uint64_t kNever = UINT64_MAX;

  virtual ~Predictor() = default;
  // Larger is later; only the order counts. kNever: not used again.
  [[nodiscard]] virtual std::uint64_t next_use(StorageId storage) const = 0;
};

}  // namespace weir
