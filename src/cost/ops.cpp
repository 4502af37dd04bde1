#include "cost/ops.h"

#include <algorithm>
#include <unordered_map>

namespace weir::cost {
namespace {

using Table = std::unordered_map<std::string_view, const Entry*>;

Table make_table() {
  Table table;
  for (auto family : {matmul_ops, convolution_ops, attention_ops, rnn_ops, norm_ops, loss_ops,
                      elementwise_ops, reduction_ops, spatial_ops, copy_ops, optimizer_ops})
    for (const Entry& entry : family()) table.emplace(entry.name, &entry);
  return table;
}

}  // namespace

void add_gemm(OpWork& work, const Gemm& gemm) {
  work.gemms.push_back(gemm);
  work.flops = std::min(
      work.flops + times(2, times(times(gemm.batch, gemm.m), times(gemm.n, gemm.k))), kMostWork);
}

const Entry* find_op(std::string_view name) {
  static const Table table = make_table();
  if (name.starts_with("aten::")) name.remove_prefix(6);
  if (name.ends_with('_')) name.remove_suffix(1);
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace weir::cost
