#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/types.h"

namespace weir {

enum class Move : std::uint8_t {
  Compute,   // op: runs, for the first time or again
  Evict,     // storage: its bytes on the device go; if a copy is on its way to the tier, after it
  Offload,   // storage: a copy to the tier begins; the bytes stay on the device
  Prefetch,  // storage: a copy from the tier begins; its bytes are taken from now on
  Fetch,     // storage: the same, and nothing else happens until it is there
  Forget,    // storage: its copy in the tier goes
};

struct ScheduledMove {
  Move move;
  std::uint32_t item = 0;  // index into Trace::ops for Compute, into Trace::storages for the others

  bool operator==(const ScheduledMove&) const = default;
};

// How an op is recognised: two ops of two traces with the same name and digest do the same.
struct OpSignature {
  std::string name;
  std::uint64_t digest = 0;  // of its cost-free parts: inputs, changes, sizes of outputs

  bool operator==(const OpSignature&) const = default;
};

// The exact sequence in which a trace's ops run inside a budget. Constants come and go with the
// program, and results that are kept stay; all else is said here.
struct Schedule {
  std::vector<OpSignature> ops;  // of the trace it is for
  Bytes budget;
  std::uint32_t first = 0;  // op that runs next: those before it had run when the schedule was made
  std::vector<ScheduledMove> moves;

  bool operator==(const Schedule&) const = default;
};

}  // namespace weir
