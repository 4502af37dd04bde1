#include "cost/machine.h"

#include <algorithm>

namespace weir::cost {
namespace {

constexpr std::string_view kNames[kKernels] = {
    "matmul",    "convolution", "attention", "rnn",  "norm",      "softmax", "elementwise",
    "reduction", "pool",        "embedding", "copy", "optimizer", "other"};

}  // namespace

std::string_view name(Kernel kernel) { return kNames[static_cast<std::size_t>(kernel)]; }

double Machine::rate(Kernel kernel, std::string_view dtype) const {
  const double own = kernel_flops_per_nano[static_cast<std::size_t>(kernel)];
  const auto found = std::ranges::find(dtypes, dtype, &DtypeRate::dtype);
  const double factor = found == dtypes.end() ? 1 : found->flops_per_nano / flops_per_nano;
  return (own > 0 ? own : flops_per_nano) * factor;
}

}  // namespace weir::cost
