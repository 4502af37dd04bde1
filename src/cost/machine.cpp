#include "cost/machine.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace weir::cost {
namespace {

constexpr std::string_view kPhaseNames[kPhases] = {"forward", "backward", "optimizer"};
constexpr std::string_view kNames[kKernels] = {
    "matmul",    "convolution", "attention", "rnn",  "norm",      "softmax", "elementwise",
    "reduction", "pool",        "embedding", "copy", "optimizer", "other"};

// How far two products are apart: the factors between their sides, in powers of two, squared.
double apart(const Gemm& a, const Gemm& b) {
  const auto square = [](double x, double y) {
    const double factor = std::log2(std::max(x, 1.0) / std::max(y, 1.0));
    return factor * factor;
  };
  const auto sides = [&](std::int64_t x, std::int64_t y) {
    return square(static_cast<double>(x), static_cast<double>(y));
  };
  return sides(a.batch, b.batch) + sides(a.m, b.m) + sides(a.n, b.n) + sides(a.k, b.k) +
         square(a.window, b.window);
}

// Between what was measured: the mean of the logarithms, near ones counting most.
std::optional<double> product_rate(std::span<const ProductRate> measured, std::string_view name,
                                   const Gemm& gemm) {
  constexpr double kSame = 0.05;
  double sum = 0, weights = 0;
  for (const ProductRate& one : measured) {
    if (one.op != name) continue;
    const double distance = apart(one.gemm, gemm) + kSame;
    const double weight = 1 / (distance * distance);
    sum += weight * std::log(one.flops_per_nano);
    weights += weight;
  }
  if (weights == 0) return std::nullopt;
  return std::exp(sum / weights);
}

}  // namespace

std::string_view name(Phase phase) { return kPhaseNames[static_cast<std::size_t>(phase)]; }

std::string_view name(Kernel kernel) { return kNames[static_cast<std::size_t>(kernel)]; }

double Machine::rate(Kernel kernel, std::string_view dtype) const {
  const double own = kernel_flops_per_nano[static_cast<std::size_t>(kernel)];
  const auto found = std::ranges::find(dtypes, dtype, &DtypeRate::dtype);
  const double factor = found == dtypes.end() ? 1 : found->flops_per_nano / flops_per_nano;
  return (own > 0 ? own : flops_per_nano) * factor;
}

double Machine::bytes_per_nano_of(std::string_view op_name) const {
  const auto found = std::ranges::find(memory_ops, op_name, &NamedRate::op);
  return found == memory_ops.end() ? bytes_per_nano : found->bytes_per_nano;
}

double Machine::compute(const StepOp& op, std::string_view op_name, std::string_view dtype,
                        double touched) const {
  const auto flops = static_cast<double>(op.flops);
  if (!op.gemms.empty()) {
    if (const auto measured = product_rate(products, op_name, op.gemms.front()))
      return flops / (*measured * rate(op.kernel, dtype) / rate(op.kernel, {}));
  } else if (const auto found = std::ranges::find(ops, op_name, &NamedRate::op);
             found != ops.end()) {
    return touched / found->bytes_per_nano;
  }
  return flops / rate(op.kernel, dtype);
}

}  // namespace weir::cost
