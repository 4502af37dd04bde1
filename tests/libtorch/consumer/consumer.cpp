#include <ATen/ATen.h>

#include <cstdio>

#include "weir/torch.h"

int main() {
  using namespace weir::literals;
  const weir::Session session{{.budget = 8_MiB, .smallest = 1_B}};
  std::vector<at::Tensor> all{at::arange(1 << 18, at::kFloat)};
  for (int i = 0; i < 16; ++i) all.push_back(all.back() + 1);
  weir::step();
  bool right = weir::stats().peak <= 8_MiB && weir::stats().evictions > 0;
  for (int i = 0; i < 17; ++i) right = right && all[i][5].item<float>() == 5 + i;
  std::puts(right ? "held" : "not held");
}
