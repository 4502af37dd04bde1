#include <algorithm>

#include "cost/ops.h"

namespace weir::cost {
namespace {

// [.., m, k] times [.., k, n]; a vector counts as one row or column.
bool product(const OpTensors& op, OpWork& work, std::size_t a, std::size_t b) {
  const auto left = op.shape(a), right = op.shape(b);
  if (left.empty() || right.empty()) return false;
  const std::int64_t k = left.back();
  const std::int64_t m = left.size() > 1 ? left[left.size() - 2] : 1;
  const std::int64_t n = right.size() > 1 ? right.back() : 1;
  const std::int64_t batch = elements_of(left.first(left.size() > 1 ? left.size() - 2 : 0));
  add_gemm(work, {.batch = batch, .m = m, .n = n, .k = k});
  return true;
}

bool first_two(const OpTensors& op, OpWork& work) { return product(op, work, 0, 1); }
bool second_and_third(const OpTensors& op, OpWork& work) { return product(op, work, 1, 2); }

// x times the transpose of a weight [n, k].
bool linear(const OpTensors& op, OpWork& work) {
  const auto x = op.shape(0), weight = op.shape(1);
  if (x.empty() || weight.size() != 2 || x.back() != weight[1]) return false;
  add_gemm(
      work,
      {.m = op.elements(0) / std::max<std::int64_t>(x.back(), 1), .n = weight[0], .k = weight[1]});
  return true;
}

constexpr Entry kOps[] = {
    {.name = "mm", .kernel = Kernel::Matmul, .count = first_two},
    {.name = "bmm", .kernel = Kernel::Matmul, .count = first_two},
    {.name = "mv", .kernel = Kernel::Matmul, .count = first_two},
    {.name = "dot", .kernel = Kernel::Matmul, .count = first_two},
    {.name = "vdot", .kernel = Kernel::Matmul, .count = first_two},
    {.name = "addmm", .kernel = Kernel::Matmul, .count = second_and_third},
    {.name = "_addmm_activation", .kernel = Kernel::Matmul, .count = second_and_third},
    {.name = "addbmm", .kernel = Kernel::Matmul, .count = second_and_third},
    {.name = "baddbmm", .kernel = Kernel::Matmul, .count = second_and_third},
    {.name = "addmv", .kernel = Kernel::Matmul, .count = second_and_third},
    {.name = "linear", .kernel = Kernel::Matmul, .count = linear},
    {.name = "mkldnn_linear", .kernel = Kernel::Matmul, .count = linear},
};

}  // namespace

std::span<const Entry> matmul_ops() { return kOps; }

}  // namespace weir::cost
