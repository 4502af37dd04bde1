#pragma once

#include <cstdint>

#include "weir/types.h"

namespace weir::twin {

// Something that happens to a run besides the events of its trace.
struct Disturbance {
  enum Kind : std::uint8_t {
    Write,       // somebody whom the manager does not see changes a tensor
    Reclaim,     // so many bytes are to be given up
    SetBudget,   // there is another budget from now on
    SetReserve,  // so much of it stays free if it can
  };
  std::size_t before;  // the event it comes before
  Kind kind;
  TensorId tensor = {};
  Bytes bytes = {};
};

}  // namespace weir::twin
