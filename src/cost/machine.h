#pragma once

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "cost/op_work.h"
#include "weir/types.h"

namespace weir::cost {

inline constexpr std::size_t kKernels = static_cast<std::size_t>(Kernel::Other) + 1;

// "matmul", "convolution", ...: as machine files have them.
[[nodiscard]] std::string_view name(Kernel kernel);

struct CacheLevel {
  Bytes capacity;
  // At which an op gets what it finds here.
  double bytes_per_nano = std::numeric_limits<double>::infinity();
};

struct DtypeRate {
  std::string dtype;
  double flops_per_nano;
};

// What the model knows of a machine.
struct Machine {
  std::string name = {};
  std::vector<CacheLevel> caches = {};  // ascending by capacity
  double bytes_per_nano = 0;            // of memory
  double flops_per_nano = 0;
  std::array<double, kKernels> kernel_flops_per_nano = {};  // 0: as all
  std::vector<DtypeRate> dtypes = {};  // those that differ; a kernel's rate changes in proportion
  Nanos op_latency = {};               // what an op takes beside computing and moving

  [[nodiscard]] double rate(Kernel kernel, std::string_view dtype) const;
};

}  // namespace weir::cost
