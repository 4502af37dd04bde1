// ResNet-50 (He et al. 2016), as zoo/nets/resnet.py has it.

#include "train.h"

namespace nn = torch::nn;

namespace {

constexpr std::int64_t kExpansion = 4;

struct Stage {
  std::int64_t widening, blocks, stride;
};
constexpr Stage kStages[] = {{1, 3, 1}, {2, 4, 2}, {4, 6, 2}, {8, 3, 2}};

struct Sizes {
  std::int64_t batch = 16, image = 160, classes = 1000, width = 64;
};

nn::Conv2d convolution(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel,
                       std::int64_t stride = 1) {
  const auto options = nn::Conv2dOptions(inputs, outputs, kernel).bias(false);
  nn::Conv2d made{nn::Conv2dOptions(options).stride(stride).padding(kernel / 2)};
  nn::init::kaiming_normal_(made->weight, 0, torch::kFanOut, torch::kReLU);
  return made;
}

class BottleneckImpl : public nn::Module {
 public:
  BottleneckImpl(std::int64_t inputs, std::int64_t width, std::int64_t stride) {
    const std::int64_t outputs = width * kExpansion;
    layers_ = register_module(
        "layers",
        nn::Sequential(convolution(inputs, width, 1), nn::BatchNorm2d(width), in_place_relu(),
                       convolution(width, width, 3, stride), nn::BatchNorm2d(width),
                       in_place_relu(), convolution(width, outputs, 1), nn::BatchNorm2d(outputs)));
    if (stride == 1 && inputs == outputs) return;
    downsample_ = register_module(
        "downsample",
        nn::Sequential(convolution(inputs, outputs, 1, stride), nn::BatchNorm2d(outputs)));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor y = layers_->forward(x);
    y += downsample_.is_empty() ? x : downsample_->forward(x);
    return torch::relu_(y);
  }

  static nn::ReLU in_place_relu() { return nn::ReLU(nn::ReLUOptions(true)); }

 private:
  nn::Sequential layers_{nullptr}, downsample_{nullptr};
};
TORCH_MODULE(Bottleneck);

class ResNet50 : public zoo::Net {
 public:
  explicit ResNet50(const Sizes& sizes) : sizes_{sizes} {
    layers_->push_back(convolution(3, sizes.width, 7, 2));
    layers_->push_back(nn::BatchNorm2d(sizes.width));
    layers_->push_back(BottleneckImpl::in_place_relu());
    layers_->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
    std::int64_t inputs = sizes.width;
    for (const Stage& stage : kStages)
      for (std::int64_t block = 0; block < stage.blocks; ++block) {
        const std::int64_t width = sizes.width * stage.widening;
        layers_->push_back(Bottleneck(inputs, width, block == 0 ? stage.stride : 1));
        inputs = width * kExpansion;
      }
    layers_->push_back(nn::AdaptiveAvgPool2d(1));
    layers_->push_back(nn::Flatten());
    layers_->push_back(nn::Linear(inputs, sizes.classes));
    register_module("layers", layers_);
  }

  // Noise whose mean colour tells the label.
  torch::Tensor loss(zoo::Source& source) override {
    const torch::Tensor labels = source.integers(sizes_.classes, {sizes_.batch});
    const torch::Tensor colours =
        torch::cos(labels.unsqueeze(1) * torch::tensor({1.0F, 2.0F, 3.0F}));
    torch::Tensor images = source.noise({sizes_.batch, 3, sizes_.image, sizes_.image});
    images.add_(colours.unsqueeze(-1).unsqueeze(-1), 2.0);
    return nn::functional::cross_entropy(layers_->forward(images), labels);
  }

 private:
  Sizes sizes_;
  nn::Sequential layers_;
};

}  // namespace

int main(int argc, char** argv) {
  Sizes sizes;
  zoo::Options options{.batch = sizes.batch, .learning_rate = 0.002};
  CLI::App app{"Train ResNet-50 on synthetic images"};
  zoo::add_options(app, options);
  app.add_option("--image", sizes.image)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--classes", sizes.classes)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--width", sizes.width)->capture_default_str()->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  sizes.batch = options.batch;
  zoo::train([&] { return std::make_shared<ResNet50>(sizes); }, options);
}
