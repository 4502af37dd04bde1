#include "train.h"

#include <chrono>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <c10/util/hash.h>

namespace zoo {
namespace {

// A digest of digests: c10's sha1 takes all it hashes at once, and only if that is not empty.
class Digest {
 public:
  void add(std::string_view bytes) { parts_ += c10::sha1{std::string{bytes} + "."}.str(); }

  void add(const torch::Tensor& tensor) {
    const torch::Tensor whole = tensor.detach().contiguous();
    add({static_cast<const char*>(whole.const_data_ptr()), whole.nbytes()});
  }

  std::string str() const { return c10::sha1{parts_}.str(); }

 private:
  std::string parts_;
};

void add_state(Digest& digest, const torch::optim::SGD& optimizer) {
  for (const torch::Tensor& parameter : optimizer.param_groups()[0].params()) {
    const auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
    if (found == optimizer.state().end()) continue;
    digest.add(static_cast<const torch::optim::SGDParamState&>(*found->second).momentum_buffer());
  }
}

// Over losses, parameters, buffers, optimizer state and the state of all generators.
std::string digest_of(const Net& net, const torch::optim::SGD& optimizer,
                      const std::vector<double>& losses, const Source& source) {
  Digest digest;
  digest.add({reinterpret_cast<const char*>(losses.data()), losses.size() * sizeof(double)});
  for (const torch::Tensor& parameter : net.parameters()) digest.add(parameter);
  for (const torch::Tensor& buffer : net.buffers()) digest.add(buffer);
  add_state(digest, optimizer);
  digest.add(at::detail::getDefaultCPUGenerator().get_state());
  digest.add(source.values.get_state());
  std::ostringstream shapes;
  shapes << source.shapes;
  digest.add(shapes.str());
  return digest.str();
}

double train_step(Net& net, torch::optim::SGD& optimizer, Source& source) {
  optimizer.zero_grad();
  const torch::Tensor loss = net.loss(source);
  loss.backward();
  optimizer.step();
  return loss.item<double>();
}

}  // namespace

Source::Source(std::uint64_t seed) : values{at::detail::createCPUGenerator(seed)}, shapes{seed} {}

torch::Tensor Source::integers(std::int64_t below, at::IntArrayRef size) {
  return torch::randint(below, size, values, torch::kLong);
}

torch::Tensor Source::noise(at::IntArrayRef size) { return torch::randn(size, values); }

std::int64_t Source::below(std::int64_t end) {
  return static_cast<std::int64_t>(shapes() % static_cast<std::uint64_t>(end));
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--steps", options.steps)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--batch", options.batch)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "default: PyTorch's own");
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--learning-rate", options.learning_rate)->capture_default_str();
  app.add_flag("--digest", options.digest, "a sha1 over the state after the last step");
}

void train(const std::function<std::shared_ptr<Net>()>& build, const Options& options) {
  using Clock = std::chrono::steady_clock;
  if (options.threads > 0) torch::set_num_threads(static_cast<int>(options.threads));
  torch::manual_seed(options.seed);
  const std::shared_ptr<Net> net = build();
  torch::optim::SGD optimizer{net->parameters(),
                              torch::optim::SGDOptions(options.learning_rate).momentum(0.9)};
  Source source{options.seed};
  std::vector<double> losses;
  for (std::int64_t step = 1; step <= options.steps; ++step) {
    const Clock::time_point begin = Clock::now();
    losses.push_back(train_step(*net, optimizer, source));
    const std::chrono::duration<double> taken = Clock::now() - begin;
    std::printf("step %3lld  loss %.4f  %.3f s\n", static_cast<long long>(step), losses.back(),
                taken.count());
    std::fflush(stdout);
  }
  if (options.digest)
    std::printf("digest %s\n", digest_of(*net, optimizer, losses, source).c_str());
}

}  // namespace zoo
