#pragma once

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "cost/op_work.h"
#include "cost/step.h"
#include "weir/types.h"

namespace weir::cost {

inline constexpr std::size_t kKernels = static_cast<std::size_t>(Kernel::Other) + 1;
inline constexpr std::size_t kPhases = static_cast<std::size_t>(Phase::Optimizer) + 1;
[[nodiscard]] std::string_view name(Phase phase);

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

// What an op by this name gets through when all it touches is in one place.
struct NamedRate {
  std::string op;
  double bytes_per_nano;
};

// What an op by this name reached whose first product has these sides.
struct ProductRate {
  std::string op;
  Gemm gemm;
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
  std::array<Nanos, kPhases> phase_latency = {};  // and beside that, by its phase
  std::vector<NamedRate> ops = {};                // ops without products, by name
  std::vector<NamedRate> memory_ops = {};         // the same where all comes from memory
  std::vector<ProductRate> products = {};         // ops with products
  // At which memory becomes usable that the system gives out anew.
  double fresh_bytes_per_nano = std::numeric_limits<double>::infinity();

  // Nanoseconds to compute an op that touches so many bytes. What was measured of ops by its name
  // comes before what its kernel reaches.
  [[nodiscard]] double compute(const StepOp& op, std::string_view name, std::string_view dtype,
                               double touched) const;
  [[nodiscard]] double rate(Kernel kernel, std::string_view dtype) const;
  // At which an op by this name gets what it does not find in a cache.
  [[nodiscard]] double bytes_per_nano_of(std::string_view name) const;
};

}  // namespace weir::cost
