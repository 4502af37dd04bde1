#include "cost/nets.h"

#include <algorithm>
#include <utility>

#include "base/rng.h"

namespace weir::cost::test {

using Tensor = Net::Tensor;

Tensor Net::add(std::int64_t elements, bool lasts, bool batched) {
  const auto id = static_cast<Tensor>(step_.items.size());
  step_.items.push_back({StorageId{id}, {elements * element_}, lasts});
  batched_.push_back(batched);
  return id;
}

Tensor Net::like(Tensor x) { return add(step_.items[x].bytes.n / element_, false, batched_[x]); }

std::int64_t Net::samples(Tensor x) const { return step_.items[x].bytes.n / element_ / batch_; }

void Net::run(Kernel kernel, std::vector<Tensor> reads, std::vector<Tensor> writes,
              std::uint32_t passes, std::int64_t flops) {
  const auto op = static_cast<std::uint32_t>(step_.ops.size());
  step_.ops.push_back({.phase = phase_, .kernel = kernel, .flops = flops, .known = true});
  for (std::uint32_t pass = 1; pass <= passes; ++pass) {
    const auto first = static_cast<std::uint32_t>(step_.accesses.size());
    for (const Tensor x : reads) step_.accesses.push_back({x, true, false});
    for (const Tensor x : writes) {
      if (pass < passes) break;
      const auto found = std::ranges::find(reads, x);
      if (found != reads.end())
        step_.accesses[first + static_cast<std::size_t>(found - reads.begin())].write = true;
      else
        step_.accesses.push_back({x, false, true});
    }
    const auto count = static_cast<std::uint32_t>(step_.accesses.size()) - first;
    step_.sweeps.push_back({op, first, count});
  }
}

void Net::give(Tensor x, Tensor gradient) {
  const auto [old, fresh] = gradients_.try_emplace(x, gradient);
  if (fresh) return;
  const Tensor sum = like(x);
  run(Kernel::Elementwise, {old->second, gradient}, {sum});
  gradients_[x] = sum;
}

Tensor Net::weight(std::int64_t elements) {
  weights_.push_back(add(elements, true, false));
  return weights_.back();
}

Tensor Net::product(Kernel kernel, Tensor x, std::int64_t elements, std::int64_t outputs,
                    std::int64_t macs) {
  return product_with(kernel, x, weight(elements), outputs, macs);
}

Tensor Net::product_with(Kernel kernel, Tensor x, Tensor w, std::int64_t outputs,
                         std::int64_t macs) {
  const Tensor y = add(batch_ * outputs, false, true);
  const std::int64_t flops = 2 * batch_ * macs;
  run(kernel, {x, w}, {y}, 1, flops);
  backward_.push_back([this, kernel, x, w, y, flops] {
    const Tensor dy = gradients_.at(y), dx = x == data_ ? x : like(x), dw = like(w);
    if (x != data_) {
      run(kernel, {dy, w}, {dx}, 1, flops);
      give(x, dx);  // where branches meet, their gradients are added before the weight's is made
    }
    run(kernel, {dy, x}, {dw}, 1, flops);
    give(w, dw);
  });
  return y;
}

Tensor Net::norm(Tensor x, std::uint32_t passes) {
  const Tensor y = like(x);
  run(Kernel::Norm, {x}, {y}, passes);
  backward_.push_back([this, x, y, passes] {
    const Tensor dy = gradients_.at(y), dx = like(x);
    run(Kernel::Norm, {dy, x}, {dx}, passes);
    give(x, dx);
  });
  return y;
}

Tensor Net::in_place(Tensor x) {
  run(Kernel::Elementwise, {x}, {x});
  backward_.push_back([this, x] {
    const Tensor dx = gradients_.at(x);
    run(Kernel::Elementwise, {dx, x}, {dx});
  });
  return x;
}

Tensor Net::sum(Tensor a, Tensor b) {
  const Tensor y = like(a);
  run(Kernel::Elementwise, {a, b}, {y});
  backward_.push_back([this, a, b, y] {
    const Tensor dy = gradients_.at(y);
    give(a, dy);
    give(b, dy);
  });
  return y;
}

Tensor Net::pool(Tensor x, std::int64_t outputs, bool reads_input_again) {
  const Tensor y = add(batch_ * outputs, false, true);
  run(Kernel::Pool, {x}, {y});
  backward_.push_back([this, x, y, reads_input_again] {
    const Tensor dy = gradients_.at(y), dx = like(x);
    run(Kernel::Pool, reads_input_again ? std::vector{dy, x} : std::vector{dy}, {dx});
    give(x, dx);
  });
  return y;
}

Tensor Net::both(Tensor a, Tensor b, std::int64_t outputs, std::int64_t macs) {
  const Tensor y = add(batch_ * outputs, false, true);
  const std::int64_t flops = 2 * batch_ * macs;
  run(Kernel::Matmul, {a, b}, {y}, 1, flops);
  backward_.push_back([this, a, b, y, flops] {
    const Tensor dy = gradients_.at(y), da = like(a), db = like(b);
    run(Kernel::Matmul, {dy, b}, {da}, 1, flops);
    run(Kernel::Matmul, {dy, a}, {db}, 1, flops);
    give(a, da);
    give(b, db);
  });
  return y;
}

Tensor Net::softmax(Tensor x) {
  const Tensor y = like(x);
  run(Kernel::Softmax, {x}, {y});
  backward_.push_back([this, x, y] {
    const Tensor dy = gradients_.at(y), dx = like(x);
    run(Kernel::Softmax, {dy, y}, {dx});
    give(x, dx);
  });
  return y;
}

void Net::loss(Tensor x) {
  const Tensor dx = like(x);
  run(Kernel::Softmax, {x}, {dx});
  gradients_[x] = dx;
}

Step Net::train() && {
  phase_ = Phase::Backward;
  step_.ops.back().phase = Phase::Backward;  // the loss and its gradient are one
  for (auto op = backward_.rbegin(); op != backward_.rend(); ++op) (*op)();
  phase_ = Phase::Optimizer;
  for (const Tensor w : weights_) {
    const Tensor momentum = add(step_.items[w].bytes.n / element_, true, false);
    run(Kernel::Optimizer, {gradients_.at(w), w, momentum}, {w, momentum});
  }
  return std::move(step_);
}

namespace {

// A convolution with `size` x `size` outputs.
struct Plane {
  Tensor tensor;
  std::int64_t channels, size;
};

Plane convolve(Net& net, const Plane& x, std::int64_t channels, std::int64_t kernel,
               std::int64_t stride) {
  const std::int64_t size = x.size / stride, weight = x.channels * channels * kernel * kernel;
  const std::int64_t pixels = size * size;
  return {net.product(Kernel::Convolution, x.tensor, weight, channels * pixels, weight * pixels),
          channels, size};
}

Plane with_norm(Net& net, const Plane& x) { return {net.batch_norm(x.tensor), x.channels, x.size}; }

Plane with_relu(Net& net, const Plane& x) { return {net.in_place(x.tensor), x.channels, x.size}; }

Plane bottleneck(Net& net, const Plane& x, std::int64_t width, std::int64_t stride, bool first) {
  Plane y = with_relu(net, with_norm(net, convolve(net, x, width, 1, 1)));
  y = with_relu(net, with_norm(net, convolve(net, y, width, 3, stride)));
  y = with_norm(net, convolve(net, y, 4 * width, 1, 1));
  const Plane past = first ? with_norm(net, convolve(net, x, 4 * width, 1, stride)) : x;
  return with_relu(net, {net.sum(y.tensor, past.tensor), y.channels, y.size});
}

Made finish(Net& net, Tensor logits) {
  net.loss(logits);
  Step step = std::move(net).train();
  return {std::move(step), net.batched()};
}

}  // namespace

Made resnet50(std::int64_t batch, std::int64_t element) {
  Net net{batch, element};
  Plane x{net.data(3 * 224 * 224), 3, 224};
  x = with_relu(net, with_norm(net, convolve(net, x, 64, 7, 2)));
  x = {net.pool(x.tensor, 64 * 56 * 56, true), 64, 56};
  constexpr std::pair<int, std::int64_t> kStages[] = {{3, 64}, {4, 128}, {6, 256}, {3, 512}};
  for (const auto& [blocks, width] : kStages)
    for (int i = 0; i < blocks; ++i)
      x = bottleneck(net, x, width, i == 0 && width > 64 ? 2 : 1, i == 0);
  const Tensor pooled = net.pool(x.tensor, 2048, false);
  return finish(net, net.product(Kernel::Matmul, pooled, 2048 * 1000, 1000, 2048 * 1000));
}

Made vgg16(std::int64_t batch, std::int64_t element) {
  Net net{batch, element};
  Plane x{net.data(3 * 224 * 224), 3, 224};
  constexpr std::pair<int, std::int64_t> kStages[] = {
      {2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};
  for (const auto& [layers, channels] : kStages) {
    for (int i = 0; i < layers; ++i) x = with_relu(net, convolve(net, x, channels, 3, 1));
    const std::int64_t half = x.size / 2;
    x = {net.pool(x.tensor, channels * half * half, true), channels, half};
  }
  const auto dense = [&](Tensor from, std::int64_t in, std::int64_t out) {
    return net.product(Kernel::Matmul, from, in * out, out, in * out);
  };
  const Tensor hidden = net.in_place(dense(x.tensor, 512 * 7 * 7, 4096));
  return finish(net, dense(net.in_place(dense(hidden, 4096, 4096)), 4096, 1000));
}

Made transformer(std::int64_t batch, std::int64_t element) {
  constexpr std::int64_t kTokens = 128, kWidth = 768, kHeads = 12, kLayers = 6;
  Net net{batch, element};
  const auto dense = [&](Tensor from, std::int64_t in, std::int64_t out) {
    return net.product(Kernel::Matmul, from, in * out, kTokens * out, kTokens * in * out);
  };
  const std::int64_t scores = kHeads * kTokens * kTokens, macs = kTokens * kTokens * kWidth;
  Tensor x = net.norm(net.data(kTokens * kWidth), 2);
  for (int layer = 0; layer < kLayers; ++layer) {
    const Tensor q = dense(x, kWidth, kWidth), k = dense(x, kWidth, kWidth);
    const Tensor v = dense(x, kWidth, kWidth);
    const Tensor mixed =
        net.both(net.softmax(net.both(q, k, scores, macs)), v, kTokens * kWidth, macs);
    x = net.norm(net.sum(x, dense(mixed, kWidth, kWidth)), 2);
    const Tensor inner = net.in_place(dense(x, kWidth, 4 * kWidth));
    x = net.norm(net.sum(x, dense(inner, 4 * kWidth, kWidth)), 2);
  }
  return finish(net, dense(x, kWidth, 8192));
}

Made lstm(std::int64_t batch, std::int64_t element) {
  constexpr std::int64_t kSteps = 35, kWidth = 650, kWords = 10'000;
  Net net{batch, element};
  const Tensor in = net.weight(4 * kWidth * kWidth), over = net.weight(4 * kWidth * kWidth);
  const Tensor decoder = net.weight(kWidth * kWords);
  const auto gates = [&](Tensor from, Tensor weight) {
    return net.product_with(Kernel::Rnn, from, weight, 4 * kWidth, 4 * kWidth * kWidth);
  };
  Tensor hidden = net.norm(net.data(kWidth), 1);
  Tensor words = 0;
  for (int i = 0; i < kSteps; ++i) {
    const Tensor x = net.norm(net.data(kWidth), 1);
    const Tensor both = net.in_place(net.sum(gates(x, in), gates(hidden, over)));
    hidden = net.pool(both, kWidth, true);  // four gates become one state
    const Tensor now = net.product_with(Kernel::Matmul, hidden, decoder, kWords, kWidth * kWords);
    words = i == 0 ? now : net.sum(words, now);
  }
  return finish(net, words);
}

Step random_step(std::uint64_t seed, std::int64_t line, std::uint32_t most_lines) {
  base::Rng rng{seed};
  Step step;
  const std::uint64_t items = 2 + rng.below(12), ops = 1 + rng.below(40);
  for (std::uint32_t i = 0; i < items; ++i)
    step.items.push_back({StorageId{i},
                          {line * static_cast<std::int64_t>(1 + rng.below(most_lines))},
                          rng.chance(1, 4)});
  for (std::uint32_t op = 0; op < ops; ++op) {
    step.ops.push_back({.phase = static_cast<Phase>(3 * op / ops)});
    for (std::uint64_t passes = 1 + rng.below(2); passes > 0; --passes) {
      const auto first = static_cast<std::uint32_t>(step.accesses.size());
      for (std::uint32_t item = 0; item < items; ++item) {
        if (!rng.chance(1, 3)) continue;
        const std::uint64_t how = rng.below(3);
        step.accesses.push_back({item, how != 1, how != 0});
      }
      const auto count = static_cast<std::uint32_t>(step.accesses.size()) - first;
      step.sweeps.push_back({op, first, count, rng.chance(1, 3)});
    }
  }
  return step;
}

}  // namespace weir::cost::test
