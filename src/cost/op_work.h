#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "weir/trace.h"
#include "weir/types.h"

namespace weir::cost {

// What kind of kernel an op runs: ops of one kind reach about the same rate on a machine.
enum class Kernel : std::uint8_t {
  Matmul,
  Convolution,
  Attention,
  Rnn,
  Norm,
  Softmax,
  Elementwise,
  Reduction,
  Pool,
  Embedding,
  Copy,
  Optimizer,
  Other
};

// One operand, read or written as a whole some number of times.
struct Touch {
  StorageId storage;  // index into Trace::storages
  Bytes bytes;        // of the storage, that the op touches in one pass
  bool write = false;
  std::uint32_t passes = 1;
  std::uint32_t after = 0;  // passes of the op that follow without it
};

// C[m,n] += A[m,k] B[k,n], `batch` times; a convolution also has the reuse of its window,
// rho = R*S/(s_h*s_w).
struct Gemm {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  double window = 1;
  bool fused = false;  // the largest of the three matrices never leaves the chip
};

// What PyTorch's kernel for CPUs does that an op by itself need not.
struct CpuKernel {
  std::int64_t parts = 1;          // all passes over one part, as a channel, before the next
  std::vector<Bytes> copies = {};  // operands that it copies into another layout, or out of one
};

struct OpWork {
  Kernel kernel = Kernel::Other;
  std::int64_t flops = 0;
  std::vector<Touch> touches;  // in the order in which the op streams them
  std::vector<Gemm> gemms;     // what it multiplies, for bounds on traffic inside of the op
  CpuKernel cpu = {};
  bool known = false;  // false: counted by its tensors' bytes alone
};

// From names, shapes, strides and types; an op that is not known, or has no shapes, is counted by
// its tensors' bytes.
[[nodiscard]] OpWork work_of(const Trace& trace, const TraceOp& op);

}  // namespace weir::cost
