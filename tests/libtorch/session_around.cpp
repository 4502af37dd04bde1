// Holds a whole program to $BUDGET bytes.
#include <cstdio>
#include <cstdlib>

#include "weir/torch.h"

namespace {

struct Around {
  ~Around() {
    const weir::Stats stats = weir::stats();
    std::printf("peak %lld recomputes %lld\n", static_cast<long long>(stats.peak.n),
                static_cast<long long>(stats.recomputes));
  }
  weir::Session session{{.budget = {std::atoll(std::getenv("BUDGET"))}, .smallest = {1}}};
} around;

}  // namespace
