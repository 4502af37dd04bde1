#pragma once

#include <functional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "weir/torch.h"

namespace weir::libtorch::test {

using namespace literals;

// The bytes of a tensor, as they are.
std::string bits(const torch::Tensor& tensor);

// A small net with what training is made of: convolutions, batch norm, in-place activations,
// dropout, attention, a linear layer.
class Net : public torch::nn::Module {
 public:
  explicit Net(std::int64_t width = 16);
  torch::Tensor forward(torch::Tensor x);

 private:
  torch::nn::Sequential layers_;
  torch::nn::Linear query_, out_;
};

// Trains a net from a seed; returns the bits of losses, parameters and buffers.
std::vector<std::string> train(
    int steps = 4, std::uint64_t seed = 1, const std::function<void()>& after_step = [] {});

// The most that training holds when nothing limits it.
Bytes peak_of(const std::function<void()>& program);

}  // namespace weir::libtorch::test
