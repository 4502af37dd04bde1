#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "cost/step.h"

namespace weir::cost::test {

// Writes down training steps as published counts have them: a convolution and a product read their
// operands and write their result once; batch norm makes two passes forward and two backward; ReLU
// works in place; the gradients of input and weight are two ops; SGD with momentum at the end.
class Net {
 public:
  using Tensor = std::uint32_t;

  Net(std::int64_t batch, std::int64_t element) : batch_{batch}, element_{element} {}

  // Of so many elements for each sample. Data comes from outside.
  Tensor data(std::int64_t elements) { return data_ = add(batch_ * elements, true, true); }

  // A product of x with a weight of so many elements; `macs` for each sample.
  Tensor product(Kernel kernel, Tensor x, std::int64_t weight, std::int64_t outputs,
                 std::int64_t macs);
  Tensor batch_norm(Tensor x) { return norm(x, 2); }
  Tensor norm(Tensor x, std::uint32_t passes);
  Tensor in_place(Tensor x);       // ReLU and its like
  Tensor sum(Tensor a, Tensor b);  // of two branches
  Tensor pool(Tensor x, std::int64_t outputs, bool reads_input_again);
  Tensor both(Tensor a, Tensor b, std::int64_t outputs, std::int64_t macs);  // batched matmul
  Tensor softmax(Tensor x);
  Tensor weight(std::int64_t elements);
  // The same with a weight that several ops share.
  Tensor product_with(Kernel kernel, Tensor x, Tensor weight, std::int64_t outputs,
                      std::int64_t macs);
  void loss(Tensor x);
  // Backward from the loss, then the optimizer.
  Step train() &&;

  [[nodiscard]] const std::vector<bool>& batched() const { return batched_; }

 private:
  Tensor add(std::int64_t elements, bool lasts, bool batched);
  Tensor like(Tensor x);
  void run(Kernel kernel, std::vector<Tensor> reads, std::vector<Tensor> writes,
           std::uint32_t passes = 1, std::int64_t flops = 0);
  void give(Tensor x, Tensor gradient);  // to what was given before it is added
  [[nodiscard]] std::int64_t samples(Tensor x) const;

  std::int64_t batch_, element_;
  Step step_;
  Phase phase_ = Phase::Forward;
  std::vector<bool> batched_;
  std::vector<Tensor> weights_;
  Tensor data_ = UINT32_MAX;  // needs no gradient
  std::unordered_map<Tensor, Tensor> gradients_;
  std::vector<std::function<void()>> backward_;
};

struct Made {
  Step step;
  std::vector<bool> batched;  // items that have a part for each sample
};
[[nodiscard]] Made resnet50(std::int64_t batch, std::int64_t element);
[[nodiscard]] Made vgg16(std::int64_t batch, std::int64_t element);
[[nodiscard]] Made transformer(std::int64_t batch, std::int64_t element);
[[nodiscard]] Made lstm(std::int64_t batch, std::int64_t element);

// Items of so many lines at most, touched at random by ops of all phases.
[[nodiscard]] Step random_step(std::uint64_t seed, std::int64_t line, std::uint32_t most_lines);

}  // namespace weir::cost::test
