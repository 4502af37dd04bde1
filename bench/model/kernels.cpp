// Runs single kernels of PyTorch on the CPU for a simulator of caches: `valgrind --tool=cachegrind
// kernels CAPACITY NAME...`. PyTorch starts once; then each kernel has two processes of its own,
// which both run it once, so that all is set up, and touch so much else that nothing of it is left
// in a cache of CAPACITY bytes. One of them runs it once more: the difference is the kernel's, from
// an empty cache. Prints a line for each pair: the name and the two process numbers.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using Sizes = std::vector<std::int64_t>;
using Kernel = std::function<void()>;
using Make = std::function<Kernel(const Sizes&)>;

at::Tensor filled(at::IntArrayRef sizes) { return at::ones(sizes); }

// Sizes as bench/model/real_kernels.py gives them.
const std::map<std::string, Make> kMakers = {
    {"mm",  // m, k, n
     [](const Sizes& s) -> Kernel {
       const auto a = filled({s[0], s[1]}), b = filled({s[1], s[2]});
       return [=] { (void)at::mm(a, b); };
     }},
    {"conv",  // batch, channels, image, outputs, filter, stride
     [](const Sizes& s) -> Kernel {
       const auto x = filled({s[0], s[1], s[2], s[2]}), w = filled({s[3], s[1], s[4], s[4]});
       const Sizes stride{s[5], s[5]}, padding{s[4] / 2, s[4] / 2};
       return [=] { (void)at::conv2d(x, w, {}, stride, padding); };
     }},
    {"batch_norm",  // batch, channels, image
     [](const Sizes& s) -> Kernel {
       const auto x = filled({s[0], s[1], s[2], s[2]}), w = filled({s[1]});
       return [=] { (void)at::native_batch_norm(x, w, w, {}, {}, true, 0.1, 1e-5); };
     }},
    {"batch_norm_backward",
     [](const Sizes& s) -> Kernel {
       const auto x = filled({s[0], s[1], s[2], s[2]}), g = filled({s[0], s[1], s[2], s[2]});
       const auto w = filled({s[1]});
       return [=] {
         (void)at::native_batch_norm_backward(g, x, w, {}, {}, w, w, true, 1e-5,
                                              {true, true, true});
       };
     }},
    {"softmax",  // rows, columns
     [](const Sizes& s) -> Kernel {
       const auto x = filled({s[0], s[1]});
       return [=] { (void)at::_softmax(x, 1, false); };
     }},
    {"softmax_backward",
     [](const Sizes& s) -> Kernel {
       const auto g = filled({s[0], s[1]}), y = filled({s[0], s[1]});
       return [=] { (void)at::_softmax_backward_data(g, y, 1, at::kFloat); };
     }},
    {"layer_norm",
     [](const Sizes& s) -> Kernel {
       const auto x = filled({s[0], s[1]}), w = filled({s[1]});
       const Sizes last{s[1]};
       return [=] { (void)at::native_layer_norm(x, last, w, w, 1e-5); };
     }},
    {"layer_norm_backward",
     [](const Sizes& s) -> Kernel {
       const auto g = filled({s[0], s[1]}), x = filled({s[0], s[1]}), w = filled({s[1]});
       const auto mean = filled({s[0], 1});
       const Sizes last{s[1]};
       return [=] {
         (void)at::native_layer_norm_backward(g, x, last, mean, mean, w, w, {true, true, true});
       };
     }},
    {"attention",  // batch, heads, length, depth
     [](const Sizes& s) -> Kernel {
       const auto q = filled(s), k = filled(s), v = filled(s);
       return [=] { (void)at::_scaled_dot_product_flash_attention_for_cpu(q, k, v); };
     }},
};

// NAME:SIZE,SIZE...
Kernel kernel_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  Sizes sizes;
  for (std::size_t at = colon; at != std::string::npos; at = text.find(',', at + 1))
    sizes.push_back(std::atoll(text.c_str() + at + 1));
  return kMakers.at(text.substr(0, colon))(sizes);
}

// Every line of more memory than the cache has.
void forget(std::size_t capacity) {
  std::vector<char> other(2 * capacity + (1 << 20), 1);
  for (std::size_t i = 0; i < other.size(); i += 64) static_cast<volatile char&>(other[i]) = 2;
}

[[noreturn]] void child(const std::string& text, std::size_t capacity, bool again) {
  at::set_num_threads(1);
  const Kernel kernel = kernel_of(text);
  kernel();
  forget(capacity);
  if (again) kernel();
  _exit(0);
}

pid_t run(const std::string& text, std::size_t capacity, bool again) {
  const pid_t pid = fork();
  if (pid == 0) child(text, capacity, again);
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) std::exit(1);
  return pid;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const auto capacity = static_cast<std::size_t>(std::atoll(words[1]));
  for (int i = 2; i < count; ++i) {
    const pid_t without = run(words[i], capacity, false), with = run(words[i], capacity, true);
    std::printf("%s %d %d\n", words[i], without, with);
    std::fflush(stdout);
  }
}
