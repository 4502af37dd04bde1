#include <algorithm>

#include "cost/ops.h"

namespace weir::cost {
namespace {

// A convolution multiplies every element of its filter with every place where the filter lies:
// those of the output, or of the input if it is transposed.
struct Shape {
  std::int64_t groups, places, outer, inner, filter;
  double window;
};

bool shape_of(const OpTensors& op, std::span<const std::int64_t> x,
              std::span<const std::int64_t> weight, std::span<const std::int64_t> y, Shape& shape) {
  if (x.size() < 3 || weight.size() != x.size() || y.size() != x.size()) return false;
  const bool transposed = op.truth("transposed", 0, false);
  const auto groups = op.setting("groups");
  shape.groups = groups.empty() ? 1 : std::max<std::int64_t>(groups[0], 1);
  shape.places = times(x[0], elements_of((transposed ? x : y).subspan(2)));
  shape.outer = weight[0] / shape.groups;  // [outer * groups, inner, filter]
  shape.inner = weight[1];
  shape.filter = elements_of(weight.subspan(2));
  double steps = 1;
  const auto strides = op.setting("stride");
  for (std::size_t i = 2; i < x.size(); ++i)
    if (!strides.empty())
      steps *= static_cast<double>(strides[std::min(i - 2, strides.size() - 1)]);
  shape.window = std::max(1.0, static_cast<double>(shape.filter) / std::max(steps, 1.0));
  return true;
}

// From inner channels and their windows to outer ones, at each place.
Gemm gather(const Shape& s) {
  return {.batch = s.groups,
          .m = s.outer,
          .n = s.places,
          .k = times(s.inner, s.filter),
          .window = s.window};
}

// From outer channels to windows of inner ones.
Gemm scatter(const Shape& s) {
  return {.batch = s.groups,
          .m = times(s.inner, s.filter),
          .n = s.places,
          .k = s.outer,
          .window = s.window};
}

Gemm weigh(const Shape& s) {
  return {.batch = s.groups,
          .m = s.outer,
          .n = times(s.inner, s.filter),
          .k = s.places,
          .window = s.window};
}

bool forward(const OpTensors& op, OpWork& work) {
  Shape shape{};
  if (!shape_of(op, op.shape(0), op.shape(1), op.output(0).shape, shape)) return false;
  add_gemm(work, op.truth("transposed", 0, false) ? scatter(shape) : gather(shape));
  return true;
}

bool backward(const OpTensors& op, OpWork& work) {
  Shape shape{};
  if (!shape_of(op, op.shape(1), op.shape(2), op.shape(0), shape)) return false;
  const bool transposed = op.truth("transposed", 0, false);
  if (op.truth("output_mask", 0, true)) add_gemm(work, transposed ? gather(shape) : scatter(shape));
  if (op.truth("output_mask", 1, true)) add_gemm(work, weigh(shape));
  return true;
}

constexpr std::int64_t kChannelBlock = 8;  // of oneDNN's layouts
constexpr std::int64_t kManyImages = 16;

// PyTorch gives a convolution to oneDNN, which has layouts of its own, unless the filter is of one
// pixel without steps and images are few. An input of few channels is read as it is.
struct CpuCopies {
  bool any, input;
};

CpuCopies copies_of(const OpTensors& op, std::span<const std::int64_t> x,
                    std::span<const std::int64_t> weight) {
  if (x.size() < 3 || weight.size() != x.size()) return {};
  const auto strides = op.setting("stride");
  const bool steps = std::ranges::any_of(strides, [](std::int64_t by) { return by > 1; });
  return {steps || elements_of(weight.subspan(2)) > 1 || x[0] >= kManyImages,
          x[1] >= kChannelBlock};
}

void with_copies(const OpTensors& op, OpWork& work) {
  const auto [any, input] = copies_of(op, op.shape(0), op.shape(1));
  if (!any) return;
  if (input) work.cpu.copies.push_back(bytes_of(op.argument(0)));
  work.cpu.copies.push_back(bytes_of(op.argument(1)));
  work.cpu.copies.push_back(bytes_of(op.output(0)));
}

// First the gradient of the input from the weight, then the one of the weight from the input; the
// gradient of the output is read for each of them.
void by_gradient(const OpTensors& op, OpWork& work) {
  const auto [any, input] = copies_of(op, op.shape(1), op.shape(2));
  const Bytes y = bytes_of(op.argument(0)), x = bytes_of(op.argument(1));
  const Bytes weight = bytes_of(op.argument(2));
  for (const std::size_t made : {0u, 1u})  // each from the gradient of the output
    if (any && op.truth("output_mask", made, true)) {
      work.cpu.copies.insert(work.cpu.copies.end(), {y, weight});
      if (input) work.cpu.copies.push_back(x);
    }
  if (!op.truth("output_mask", 0, true) || !op.truth("output_mask", 1, true)) return;
  for (Touch& touch : work.touches) {
    if (!touch.write && touch.storage == op.storage(0)) touch.passes = 2;
    if (!touch.write && touch.storage == op.storage(2)) touch.after = 1;
    if (touch.write && touch.storage == op.output_storage(0)) touch.after = 1;
  }
}

constexpr Entry kOps[] = {
    {.name = "convolution",
     .kernel = Kernel::Convolution,
     .count = forward,
     .arrange = with_copies},
    {.name = "_convolution",
     .kernel = Kernel::Convolution,
     .count = forward,
     .arrange = with_copies},
    {.name = "convolution_overrideable", .kernel = Kernel::Convolution, .count = forward},
    {.name = "mkldnn_convolution",
     .kernel = Kernel::Convolution,
     .count = forward,
     .arrange = with_copies},
    {.name = "thnn_conv2d", .kernel = Kernel::Convolution, .count = forward},
    {.name = "_slow_conv2d_forward", .kernel = Kernel::Convolution, .count = forward},
    {.name = "conv_depthwise3d", .kernel = Kernel::Convolution, .count = forward},
    {.name = "convolution_backward",
     .kernel = Kernel::Convolution,
     .count = backward,
     .arrange = by_gradient},
    {.name = "convolution_backward_overrideable",
     .kernel = Kernel::Convolution,
     .count = backward,
     .arrange = by_gradient},
};

}  // namespace

std::span<const Entry> convolution_ops() { return kOps; }

}  // namespace weir::cost
