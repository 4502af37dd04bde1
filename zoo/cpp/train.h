#pragma once

#include <cstdint>
#include <memory>
#include <random>

#include <torch/torch.h>
#include <CLI/CLI.hpp>

namespace zoo {

struct Options {
  std::int64_t steps = 3, batch = 0, threads = 0;
  std::uint64_t seed = 0;
  double learning_rate = 0;
  bool digest = false;
};

// Where a run's data come from; apart from torch's own generator, which dropout draws from.
struct Source {
  explicit Source(std::uint64_t seed);

  torch::Tensor integers(std::int64_t below, at::IntArrayRef size);
  torch::Tensor noise(at::IntArrayRef size);
  std::int64_t below(std::int64_t end);  // 0 ... end - 1; the same with every standard library

  at::Generator values;
  std::mt19937_64 shapes;
};

class Net : public torch::nn::Module {
 public:
  virtual torch::Tensor loss(Source& source) = 0;  // of a batch that it draws
};

// The options of every program; the defaults of `options` are shown in its help.
void add_options(CLI::App& app, Options& options);

// Trains the net that `build` makes after the seed is set; prints losses, times and the digest.
void train(const std::function<std::shared_ptr<Net>()>& build, const Options& options);

}  // namespace zoo
