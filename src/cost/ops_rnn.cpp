#include <algorithm>

#include "cost/ops.h"

namespace weir::cost {
namespace {

// input [.., in], weights [gates, in] and [gates, hidden], two biases, the first hidden state. The
// input is multiplied at once, the state at each time.
bool layer(const OpTensors& op, OpWork& work, std::int64_t times_over) {
  const auto input = op.shape(0), from_input = op.shape(1), from_state = op.shape(2);
  if (input.size() != 3 || from_input.size() != 2 || from_state.size() != 2) return false;
  const std::int64_t in = std::max<std::int64_t>(from_input[1], 1), hidden = from_state[1];
  const std::int64_t rows = op.elements(0) / in, gates = from_input[0];
  const std::int64_t batch = std::max<std::int64_t>(
      hidden > 0 ? op.elements(5) / std::max<std::int64_t>(hidden, 1) : 1, 1);
  for (std::int64_t i = 0; i < times_over; ++i) {
    add_gemm(work, {.m = rows, .n = gates, .k = in});
    add_gemm(work, {.batch = rows / batch, .m = batch, .n = gates, .k = hidden});
  }
  work.flops += times(times(rows, gates), 3 * times_over);  // gates, and the new state
  return true;
}

bool forward(const OpTensors& op, OpWork& work) { return layer(op, work, 1); }
bool backward(const OpTensors& op, OpWork& work) { return layer(op, work, 2); }

constexpr Entry kOps[] = {
    {.name = "mkldnn_rnn_layer", .kernel = Kernel::Rnn, .count = forward},
    {.name = "mkldnn_rnn_layer_backward", .kernel = Kernel::Rnn, .count = backward},
    {.name = "_thnn_fused_lstm_cell", .kernel = Kernel::Rnn, .per_element = 3},
    {.name = "_thnn_fused_lstm_cell_backward", .kernel = Kernel::Rnn, .per_element = 5},
    {.name = "_thnn_fused_lstm_cell_backward_impl", .kernel = Kernel::Rnn, .per_element = 5},
    {.name = "_thnn_fused_gru_cell", .kernel = Kernel::Rnn, .per_element = 3},
    {.name = "_thnn_fused_gru_cell_backward", .kernel = Kernel::Rnn, .per_element = 5},
};

}  // namespace

std::span<const Entry> rnn_ops() { return kOps; }

}  // namespace weir::cost
