#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weir/trace.h"

namespace weir::trace {

// The sum of all costs: the time of a run that restores nothing.
Nanos base_cost(const Trace& trace);

// The most bytes in use at once by a run with room for everything, which frees a storage when the
// last reference to it goes; constants too. A kept storage stays. The denominator of budgets.
Bytes liveness_peak(const Trace& trace);

struct NameTotal {
  std::string name;
  std::size_t calls = 0;
  Nanos cost = {};
};

struct Info {
  std::size_t events = 0, ops = 0, tensors = 0, storages = 0, constants = 0;
  std::size_t views = 0, mutations = 0, steps = 0, keeps = 0;
  Nanos base_cost = {};
  Bytes liveness_peak = {}, constant_bytes = {};
  Bytes largest_op = {};  // its distinct non-constant input storages, fresh outputs and scratch
  Bytes bottleneck = {};  // as DTR's authors count: every argument, and a view has size 0
  std::vector<NameTotal> by_time = {};  // op names, most costly first
};

Info info_of(const Trace& trace);

}  // namespace weir::trace
