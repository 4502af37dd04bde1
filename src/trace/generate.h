#pragma once

#include <cstdint>

#include "weir/trace.h"

namespace weir::trace {

// Made-up traces. Same arguments, same trace, on every machine. Sizes out of range throw BadInput.

// n layers forward, n backward; layer k's gradient needs layer k-1's activation (DTR's theorem).
Trace linear_chain(std::uint32_t n, Bytes size = {1}, Nanos cost = {1});

// One training step of a network shaped like a full binary tree with 2^depth leaves.
Trace binary_tree(std::uint32_t depth, Bytes size = {1}, Nanos cost = {1});

// One training step of a layered network with random links, also over several layers.
Trace layered_dag(std::uint32_t layers, std::uint32_t width, std::uint64_t seed);

struct TrainingOptions {
  std::uint32_t steps = 2;
  std::uint32_t ops = 8;         // forward ops per step; backward has about as many again
  std::uint32_t parameters = 3;  // constants that the optimizer mutates
  std::uint32_t most_live = 12;  // references the program holds at once, beside saved ones
  Bytes most_bytes = {64};
  Nanos most_cost = {16};
};

// Random training under ViewRule::Keep, rich in odd cases: views of views, in-place ops (also
// through views, and on tensors with live readers), duplicate inputs, ops without inputs or
// recipes, nothing-sized storages, outputs released at once. For comparing twins by seed.
Trace training_step(std::uint64_t seed, const TrainingOptions& options = {});

struct LogOptions {
  std::uint32_t ops = 30;
  std::uint32_t constants = 3;
  std::uint32_t most_live = 12;
  Bytes most_bytes = {64};
  Nanos most_cost = {16};
};

// A random program under DTR's rules (ViewRule::Rerun): views and several outputs, no mutation;
// what is still held at its end is kept.
Trace random_log_trace(std::uint64_t seed, const LogOptions& options = {});

}  // namespace weir::trace
