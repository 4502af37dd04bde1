#include "cost/ops.h"

namespace weir::cost {
namespace {

// For each output one step per element of the window.
std::int64_t window(const OpTensors& op) {
  std::int64_t elements = elements_of(op.setting("kernel_size"));
  return op.setting("kernel_size").size() == 1 ? times(elements, elements) : elements;
}

bool forward(const OpTensors& op, OpWork& work) {
  const std::int64_t outputs = elements_of(op.output(0).shape);
  if (op.output(0).dtype.empty() || op.setting("kernel_size").empty()) return false;
  work.flops = times(outputs, window(op));
  return true;
}

bool backward(const OpTensors& op, OpWork& work) {
  if (op.setting("kernel_size").empty()) return false;
  work.flops = times(op.elements(0), window(op));
  return true;
}

// The pattern of a backward op, its second argument, tells only a shape.
constexpr Entry kSpatialOps[] = {
    {.name = "max_pool2d_with_indices", .kernel = Kernel::Pool, .count = forward},
    {.name = "avg_pool2d", .kernel = Kernel::Pool, .count = forward},
    {.name = "avg_pool3d", .kernel = Kernel::Pool, .count = forward},
    {.name = "max_pool3d_with_indices", .kernel = Kernel::Pool, .count = forward},
    {.name = "mkldnn_max_pool2d", .kernel = Kernel::Pool, .count = forward},
    {.name = "avg_pool1d", .kernel = Kernel::Pool, .count = forward},
    {.name = "_adaptive_avg_pool2d", .kernel = Kernel::Pool, .per_element = 1},
    {.name = "_adaptive_avg_pool3d", .kernel = Kernel::Pool, .per_element = 1},
    {.name = "adaptive_max_pool2d", .kernel = Kernel::Pool, .per_element = 1},
    {.name = "max_pool2d_with_indices_backward",
     .kernel = Kernel::Pool,
     .per_element = 1,
     .unread = 0b10},
    {.name = "max_pool3d_with_indices_backward",
     .kernel = Kernel::Pool,
     .per_element = 1,
     .unread = 0b10},
    {.name = "adaptive_max_pool2d_backward",
     .kernel = Kernel::Pool,
     .per_element = 1,
     .unread = 0b10},
    {.name = "avg_pool2d_backward", .kernel = Kernel::Pool, .unread = 0b10, .count = backward},
    {.name = "avg_pool3d_backward", .kernel = Kernel::Pool, .unread = 0b10, .count = backward},
    {.name = "_adaptive_avg_pool2d_backward",
     .kernel = Kernel::Pool,
     .per_element = 1,
     .unread = 0b10},
    {.name = "_adaptive_avg_pool3d_backward",
     .kernel = Kernel::Pool,
     .per_element = 1,
     .unread = 0b10},
    {.name = "upsample_nearest1d", .kernel = Kernel::Copy, .per_element = 1},
    {.name = "upsample_nearest2d", .kernel = Kernel::Copy, .per_element = 1},
    {.name = "upsample_nearest3d", .kernel = Kernel::Copy, .per_element = 1},
    {.name = "upsample_nearest1d_backward", .kernel = Kernel::Copy, .per_element = 1},
    {.name = "upsample_nearest2d_backward", .kernel = Kernel::Copy, .per_element = 1},
    {.name = "upsample_nearest3d_backward", .kernel = Kernel::Copy, .per_element = 1},
    {.name = "reflection_pad2d", .kernel = Kernel::Copy, .per_element = 1},
    {.name = "reflection_pad2d_backward", .kernel = Kernel::Copy, .per_element = 1},
    {.name = "replication_pad2d", .kernel = Kernel::Copy, .per_element = 1},
    {.name = "replication_pad2d_backward", .kernel = Kernel::Copy, .per_element = 1},
    {.name = "constant_pad_nd", .kernel = Kernel::Copy, .per_element = 1},
    {.name = "im2col", .kernel = Kernel::Copy, .per_element = 1},
    {.name = "col2im", .kernel = Kernel::Copy, .per_element = 1},
    {.name = "upsample_bilinear2d", .kernel = Kernel::Copy, .per_element = 7},
    {.name = "upsample_bilinear2d_backward", .kernel = Kernel::Copy, .per_element = 7},
    {.name = "upsample_linear1d", .kernel = Kernel::Copy, .per_element = 7},
    {.name = "upsample_linear1d_backward", .kernel = Kernel::Copy, .per_element = 7},
    {.name = "upsample_trilinear3d", .kernel = Kernel::Copy, .per_element = 7},
    {.name = "upsample_bicubic2d", .kernel = Kernel::Copy, .per_element = 20},
    {.name = "upsample_bicubic2d_backward", .kernel = Kernel::Copy, .per_element = 20},
    {.name = "grid_sampler_2d", .kernel = Kernel::Copy, .per_element = 20},
    {.name = "grid_sampler_2d_backward", .kernel = Kernel::Copy, .per_element = 20},
    {.name = "embedding", .kernel = Kernel::Embedding, .gathered = 0b1},
    {.name = "index", .kernel = Kernel::Embedding, .gathered = 0b1},
    {.name = "index_select", .kernel = Kernel::Embedding, .gathered = 0b1},
    {.name = "gather", .kernel = Kernel::Embedding, .gathered = 0b1},
    {.name = "take", .kernel = Kernel::Embedding, .gathered = 0b1},
    {.name = "_unsafe_index", .kernel = Kernel::Embedding, .gathered = 0b1},
    {.name = "_embedding_bag", .kernel = Kernel::Embedding, .gathered = 0b1},
    {.name = "_embedding_bag_forward_only", .kernel = Kernel::Embedding, .gathered = 0b1},
    {.name = "embedding_dense_backward", .kernel = Kernel::Embedding, .per_element = 1},
    {.name = "_embedding_bag_dense_backward", .kernel = Kernel::Embedding, .per_element = 1},
    {.name = "index_add", .kernel = Kernel::Embedding, .per_element = 1},
    {.name = "index_put", .kernel = Kernel::Embedding, .per_element = 1},
    {.name = "_index_put_impl", .kernel = Kernel::Embedding, .per_element = 1},
    {.name = "_unsafe_index_put", .kernel = Kernel::Embedding, .per_element = 1},
    {.name = "scatter", .kernel = Kernel::Embedding, .per_element = 1},
    {.name = "scatter_add", .kernel = Kernel::Embedding, .per_element = 1},
    {.name = "scatter_reduce", .kernel = Kernel::Embedding, .per_element = 1},
    {.name = "index_copy", .kernel = Kernel::Embedding, .per_element = 1},
    {.name = "index_fill", .kernel = Kernel::Embedding, .per_element = 1},
    {.name = "put", .kernel = Kernel::Embedding, .per_element = 1},
    {.name = "masked_scatter", .kernel = Kernel::Embedding, .per_element = 1},
};

}  // namespace

std::span<const Entry> spatial_ops() { return kSpatialOps; }

}  // namespace weir::cost
