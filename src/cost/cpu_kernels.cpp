#include "cost/cpu_kernels.h"

#include <algorithm>
#include <cmath>

namespace weir::cost {
namespace {

constexpr double kKeyBlock = 512;
constexpr double kTouchesOfScores = 4;

// As PyTorch's kernel splits them.
double query_block(double queries) {
  if (queries >= 768) return 256;
  return queries >= 192 ? 64 : 32;
}

}  // namespace

void run_on_cpu(Step& step) {
  for (StepOp& op : step.ops) op.on_cpu = true;
}

double copy_bytes(const CpuKernel& kernel, double touched, double capacity) {
  double copied = 0;
  for (const Bytes bytes : kernel.copies) copied += static_cast<double>(bytes.n);
  return touched + copied <= capacity ? copied : 2 * copied;
}

double attention_bytes(const Gemm& scores, double element, double capacity) {
  const auto queries = static_cast<double>(scores.m), keys = static_cast<double>(scores.n);
  const auto depth = static_cast<double>(scores.k), heads = static_cast<double>(scores.batch);
  const double rows = std::min(query_block(queries), queries), columns = std::min(kKeyBlock, keys);
  const double block = element * rows * columns;
  const double both = 2 * element * keys * depth;       // keys and values of a head
  const double packed = 2 * element * columns * depth;  // the products' copies of a block of them
  const double beside = packed + 2 * element * rows * depth;  // and queries with their results
  double bytes = block + packed;
  if (block + beside > capacity) bytes += heads * kTouchesOfScores * element * queries * keys;
  if (both + block + beside > capacity) bytes += heads * (std::ceil(queries / rows) - 1) * both;
  return bytes;
}

}  // namespace weir::cost
