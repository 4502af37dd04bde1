#include <ATen/ATen.h>

#include <cstdio>

#include "weir/torch.h"

int main() {
  using namespace weir::literals;
  const weir::Session session{{.budget = 8_MiB, .smallest = 1_B}};
  std::vector<at::Tensor> all{at::arange(1 << 18, at::kFloat)};
  for (int i = 0; i < 16; ++i) all.push_back(all.back() + 1);
  weir::step();
  bool right = true;
  for (int i = 0; i < 17; ++i) right = right && all[i][5].item<float>() == 5 + i;
  const weir::Stats stats = weir::stats();
  right = right && stats.peak <= 8_MiB && stats.recomputes + stats.fetches > 0;
  std::puts(right ? "held" : "not held");
}
