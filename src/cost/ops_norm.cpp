#include "cost/ops.h"

namespace weir::cost {
namespace {

// Statistics first, then what they are for: two passes. Per element a mean, a variance (two) and a
// scale with a shift; backward two sums of two and four for the gradient. Where the statistics are
// those of a row, a row is done before the next one begins: its second pass is in the nearest
// cache.
// On CPUs the gradient is made one channel after the other.
void by_channel(const OpTensors& op, OpWork& work) {
  if (const auto shape = op.shape(1); shape.size() > 1) work.cpu.parts = shape[1];
}

constexpr Entry kNormOps[] = {
    {.name = "native_batch_norm", .kernel = Kernel::Norm, .per_element = 5, .passes = 2},
    {.name = "_native_batch_norm_legit", .kernel = Kernel::Norm, .per_element = 5, .passes = 2},
    {.name = "_batch_norm_with_update", .kernel = Kernel::Norm, .per_element = 5, .passes = 2},
    {.name = "batch_norm", .kernel = Kernel::Norm, .per_element = 5, .passes = 2},
    {.name = "native_layer_norm", .kernel = Kernel::Norm, .per_element = 5},
    {.name = "native_group_norm", .kernel = Kernel::Norm, .per_element = 5, .passes = 2},
    {.name = "_fused_rms_norm", .kernel = Kernel::Norm, .per_element = 5},
    {.name = "native_batch_norm_backward",
     .kernel = Kernel::Norm,
     .per_element = 8,
     .passes = 2,
     .arrange = by_channel},
    {.name = "batch_norm_backward",
     .kernel = Kernel::Norm,
     .per_element = 8,
     .passes = 2,
     .arrange = by_channel},
    {.name = "native_layer_norm_backward", .kernel = Kernel::Norm, .per_element = 8},
    {.name = "native_group_norm_backward", .kernel = Kernel::Norm, .per_element = 8, .passes = 2},
    {.name = "_fused_rms_norm_backward", .kernel = Kernel::Norm, .per_element = 8},
};

// Of what a loss by classes reads, only one element per target is touched.
constexpr Entry kLossOps[] = {
    {.name = "_softmax", .kernel = Kernel::Softmax, .per_element = 5},
    {.name = "_log_softmax", .kernel = Kernel::Softmax, .per_element = 5},
    {.name = "_safe_softmax", .kernel = Kernel::Softmax, .per_element = 5},
    {.name = "_softmax_backward_data", .kernel = Kernel::Softmax, .per_element = 4},
    {.name = "_log_softmax_backward_data", .kernel = Kernel::Softmax, .per_element = 4},
    {.name = "nll_loss_backward", .kernel = Kernel::Softmax, .per_element = 1, .unread = 0b10},
    {.name = "nll_loss2d_backward", .kernel = Kernel::Softmax, .per_element = 1, .unread = 0b10},
    {.name = "nll_loss_forward", .kernel = Kernel::Softmax, .gathered = 0b1},
    {.name = "nll_loss2d_forward", .kernel = Kernel::Softmax, .gathered = 0b1},
    {.name = "mse_loss", .kernel = Kernel::Softmax, .per_element = 3},
    {.name = "smooth_l1_loss", .kernel = Kernel::Softmax, .per_element = 3},
    {.name = "huber_loss", .kernel = Kernel::Softmax, .per_element = 3},
    {.name = "binary_cross_entropy", .kernel = Kernel::Softmax, .per_element = 3},
    {.name = "kl_div", .kernel = Kernel::Softmax, .per_element = 3},
    {.name = "mse_loss_backward", .kernel = Kernel::Softmax, .per_element = 4},
    {.name = "smooth_l1_loss_backward", .kernel = Kernel::Softmax, .per_element = 4},
    {.name = "huber_loss_backward", .kernel = Kernel::Softmax, .per_element = 4},
    {.name = "binary_cross_entropy_backward", .kernel = Kernel::Softmax, .per_element = 4},
    {.name = "binary_cross_entropy_with_logits", .kernel = Kernel::Softmax, .per_element = 6},
};

}  // namespace

std::span<const Entry> norm_ops() { return kNormOps; }
std::span<const Entry> loss_ops() { return kLossOps; }

}  // namespace weir::cost
