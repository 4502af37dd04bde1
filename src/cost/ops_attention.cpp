#include <algorithm>

#include "cost/ops.h"

namespace weir::cost {
namespace {

struct Heads {
  std::int64_t batch, queries, keys, depth, value_depth;
};

// [batch, heads, length, depth]; a mask that hides half of the keys is not counted as less.
bool heads_of(const OpTensors& op, std::size_t first, Heads& heads) {
  const auto query = op.shape(first), key = op.shape(first + 1), value = op.shape(first + 2);
  if (query.size() != 4 || key.size() != 4 || value.size() != 4) return false;
  heads = {.batch = times(query[0], query[1]),
           .queries = query[2],
           .keys = key[2],
           .depth = query[3],
           .value_depth = value[3]};
  return true;
}

// Scores are made, used and forgotten by blocks.
void add_fused(OpWork& work, Gemm gemm) {
  gemm.fused = true;
  add_gemm(work, gemm);
}

bool forward(const OpTensors& op, OpWork& work) {
  Heads h{};
  if (!heads_of(op, 0, h)) return false;
  add_fused(work, {.batch = h.batch, .m = h.queries, .n = h.keys, .k = h.depth});
  add_fused(work, {.batch = h.batch, .m = h.queries, .n = h.value_depth, .k = h.keys});
  return true;
}

// Scores again, then the gradients of scores, values, queries and keys.
bool backward(const OpTensors& op, OpWork& work) {
  Heads h{};
  if (!heads_of(op, 1, h)) return false;
  add_fused(work, {.batch = h.batch, .m = h.queries, .n = h.keys, .k = h.depth});
  add_fused(work, {.batch = h.batch, .m = h.queries, .n = h.keys, .k = h.value_depth});
  add_fused(work, {.batch = h.batch, .m = h.keys, .n = h.value_depth, .k = h.queries});
  add_fused(work, {.batch = h.batch, .m = h.queries, .n = h.depth, .k = h.keys});
  add_fused(work, {.batch = h.batch, .m = h.depth, .n = h.keys, .k = h.queries});
  return true;
}

constexpr Kernel kKernel = Kernel::Attention;
constexpr Entry kOps[] = {
    {.name = "_scaled_dot_product_flash_attention_for_cpu", .kernel = kKernel, .count = forward},
    {.name = "_scaled_dot_product_flash_attention_for_cpu_backward",
     .kernel = kKernel,
     .count = backward},
    {.name = "_scaled_dot_product_flash_attention", .kernel = kKernel, .count = forward},
    {.name = "_scaled_dot_product_flash_attention_backward", .kernel = kKernel, .count = backward},
    {.name = "_scaled_dot_product_efficient_attention", .kernel = kKernel, .count = forward},
    {.name = "_scaled_dot_product_efficient_attention_backward",
     .kernel = kKernel,
     .count = backward},
};

}  // namespace

std::span<const Entry> attention_ops() { return kOps; }

}  // namespace weir::cost
