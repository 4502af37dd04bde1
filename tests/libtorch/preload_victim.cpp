// A program that knows nothing of Weir, and does what such programs may do.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::int64_t kCount = 1 << 18;  // a MiB of floats

// Needs sixteen times what it leaves behind.
double walk(float seed) {
  std::vector<at::Tensor> all;
  at::Tensor x = at::arange(kCount, at::kFloat) * (seed / kCount);
  for (int i = 0; i < 16; ++i) all.push_back(x = (x + 0.1F).sin());
  double sum = 0;
  for (const at::Tensor& one : all) sum = sum * 3 + one.sum().item<double>();
  return sum;
}

int threads() {
  at::set_num_threads(1);
  double sums[2] = {};
  std::vector<std::thread> both;
  for (int i = 0; i < 2; ++i)
    both.emplace_back([&sums, i] {
      at::set_num_threads(1);
      sums[i] = walk(static_cast<float>(i + 1));
    });
  for (std::thread& one : both) one.join();
  std::printf("%a %a\n", sums[0], sums[1]);
  return 0;
}

void own_handler(int) {
  constexpr char kText[] = "own handler\n";
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, kText, sizeof kText - 1);
  _exit(7);
}

// First a read that Weir has to serve, then a fault of its own.
int handler(bool by_sigaction) {
  struct sigaction wanted = {}, now = {};
  wanted.sa_handler = own_handler;
  if (by_sigaction)
    sigaction(SIGSEGV, &wanted, nullptr);
  else
    signal(SIGSEGV, own_handler);
  sigaction(SIGSEGV, nullptr, &now);
  std::printf("installed %d\n", now.sa_handler == own_handler ? 1 : 0);
  const at::Tensor x = at::arange(kCount, at::kFloat), y = x * 2;
  const auto* values = y.const_data_ptr<float>();
  walk(1);
  std::printf("read %g\n", static_cast<double>(values[1000]));
  std::fflush(stdout);
  void* nobodys = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile int*>(nobodys) = 1;
  return 0;
}

int children() {
  std::fflush(stdout);
  return std::system("env | grep -E '^(LD_PRELOAD|WEIR_OPTIONS)=' || echo clean") == 0 ? 0 : 1;
}

int fork_one() {
  at::set_num_threads(1);
  const at::Tensor x = at::arange(kCount, at::kFloat);
  walk(1);
  const pid_t child = fork();
  if (child == 0) std::exit(walk(1) != 0 ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("%a\n", x.sum().item<double>());
  return WEXITSTATUS(status);
}

int too_much() {
  at::ones({64 << 20});
  return 0;
}

int one_walk() {
  std::printf("%a\n", walk(1));
  return 5;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "walk";
  if (what == "threads") return threads();
  if (what == "sigaction") return handler(true);
  if (what == "signal") return handler(false);
  if (what == "children") return children();
  if (what == "fork") return fork_one();
  if (what == "too_much") return too_much();
  return one_walk();
}
