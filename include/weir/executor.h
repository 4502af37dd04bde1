#pragma once

#include "weir/types.h"

namespace weir {

// Carries out what the manager decides: simulated, or with real kernels and pages.
class Executor {
 public:
  virtual ~Executor() = default;
  [[nodiscard]] virtual Nanos now() const = 0;
  // The storage's bytes are given up. Called with the manager's lock held: it must not call back.
  virtual void evict(StorageId storage) = 0;
};

}  // namespace weir
