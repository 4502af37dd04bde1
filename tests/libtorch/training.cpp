#include "libtorch/training.h"

#include <ATen/CPUGeneratorImpl.h>

namespace weir::libtorch::test {

namespace nn = torch::nn;

namespace {

nn::Conv2d convolution(std::int64_t from, std::int64_t to) {
  return nn::Conv2d{nn::Conv2dOptions(from, to, 3).padding(1).bias(false)};
}

}  // namespace

std::string bits(const torch::Tensor& tensor) {
  const torch::Tensor whole = tensor.detach().contiguous().clone();
  return {static_cast<const char*>(whole.const_data_ptr()), whole.nbytes()};
}

Net::Net(std::int64_t width)
    : layers_{register_module(
          "layers", nn::Sequential{convolution(3, width), nn::BatchNorm2d(width),
                                   nn::ReLU(nn::ReLUOptions(true)), convolution(width, width),
                                   nn::BatchNorm2d(width), nn::GELU(), nn::Dropout(0.2),
                                   convolution(width, width), nn::ReLU(), nn::AvgPool2d(2)})},
      query_{register_module("query", nn::Linear(width, 3 * width))},
      out_{register_module("out", nn::Linear(width, 10))} {}

torch::Tensor Net::forward(torch::Tensor x) {
  x = layers_->forward(x).flatten(2).transpose(1, 2);
  const auto parts = query_->forward(x).unsqueeze(1).chunk(3, -1);
  x = x + torch::scaled_dot_product_attention(parts[0], parts[1], parts[2]).squeeze(1);
  return out_->forward(x.mean(1));
}

std::vector<std::string> train(int steps, std::uint64_t seed,
                               const std::function<void()>& after_step) {
  auto draws = at::detail::createCPUGenerator(seed);
  torch::manual_seed(seed);
  Net net;
  torch::optim::AdamW optimizer{net.parameters(), torch::optim::AdamWOptions(1e-3)};
  std::vector<std::string> result;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const torch::Tensor images = torch::randn({8, 3, 24, 24}, draws);
    const torch::Tensor labels = torch::randint(10, {8}, draws, torch::kLong);
    const torch::Tensor loss = nn::functional::cross_entropy(net.forward(images), labels);
    loss.backward();
    optimizer.step();
    result.push_back(bits(loss));
    after_step();
  }
  for (const torch::Tensor& tensor : net.parameters()) result.push_back(bits(tensor));
  for (const torch::Tensor& tensor : net.buffers()) result.push_back(bits(tensor));
  return result;
}

Bytes peak_of(const std::function<void()>& program) {
  const Session session{{.budget = 16_GiB, .smallest = 1_B, .tier = "none"}};
  program();
  return stats().logical_peak;
}

}  // namespace weir::libtorch::test
