#pragma once

#include "cost/step.h"

namespace weir::cost {

// From here on the step's ops move what PyTorch's kernels for CPUs do: some make their passes part
// by part, some copy operands, and attention has blocks of fixed sizes.
void run_on_cpu(Step& step);

// Bytes that an op's copies move which touches so many bytes itself: a copy is made, and read if it
// did not stay.
[[nodiscard]] double copy_bytes(const CpuKernel& kernel, double touched, double capacity);

// Bytes that attention moves beside queries, keys, values and results, with elements of so many
// bytes. A block of queries meets one block of keys after the other; its scores are made, looked at
// for their largest, made into shares and multiplied: four touches.
[[nodiscard]] double attention_bytes(const Gemm& scores, double element, double capacity);

}  // namespace weir::cost
