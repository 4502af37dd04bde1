#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cost/op_work.h"
#include "weir/trace.h"
#include "weir/types.h"

namespace weir::cost {

// A storage, or a part of one: whoever touches it touches all of it.
struct Item {
  StorageId storage;
  Bytes bytes;
  bool lasts = false;  // what is written to it is wanted after the step
};

struct Access {
  std::uint32_t item;
  bool read = false, write = false;
};

// One pass of an op over some of its operands, all of them side by side: when a share p of the
// sweep is done, the share p of each item has been touched.
struct Sweep {
  std::uint32_t op;            // index into Step::ops
  std::uint32_t first, count;  // range of Step::accesses; an item appears once
  bool backwards = false;      // from the ends of the items to their beginnings
};

struct StepOp {
  std::uint32_t name = 0;  // index into the trace's names
  Phase phase = Phase::Forward;
  Kernel kernel = Kernel::Other;
  std::uint32_t dtype = 0;  // of what it makes or, if nothing, reads; index into the trace's names
  std::int64_t flops = 0;
  std::vector<Gemm> gemms = {};
  CpuKernel cpu = {};
  bool on_cpu = false;  // `cpu` and the blocks of CPU kernels count
  bool known = false;
  Bytes fresh = {};  // of what it makes, on pages that the system gives out for it
};

// What one training step touches, in order.
struct Step {
  std::vector<Item> items;
  std::vector<Access> accesses;
  std::vector<Sweep> sweeps;
  std::vector<StepOp> ops;

  [[nodiscard]] std::span<const Access> accesses_of(const Sweep& sweep) const {
    return std::span(accesses).subspan(sweep.first, sweep.count);
  }
};

// Events of a trace from `first` up to, not including, `end`.
struct StepRange {
  std::size_t first = 0, end = 0;
};

// The step of that number, from 1; by default the last whole one. A trace without step marks is one
// step. A step that is not there throws BadInput.
[[nodiscard]] StepRange find_step(const Trace& trace, std::optional<std::uint32_t> number = {});

// `works[i]` is the work of op i of the trace.
[[nodiscard]] Step step_of(const Trace& trace, const StepRange& range,
                           std::span<const OpWork> works);
[[nodiscard]] Step step_of(const Trace& trace, const StepRange& range);

}  // namespace weir::cost
