#pragma once

#include <vector>

#include "cost/step.h"
#include "weir/trace.h"

namespace weir::cost {

// Words that a tiled multiplication moves with a fast memory of so many words, by the best of three
// ways: a tile of the output stays while slices of both factors pass, or a tile of a factor stays
// while the other one and the output pass. With a window w a word of the input serves w products.
// Of a fused product only the two smaller matrices move.
[[nodiscard]] double tiled_words(const Gemm& gemm, double words);

// No schedule moves fewer: 2mnk / sqrt(words * window) and the output, or each matrix once.
[[nodiscard]] double least_words(const Gemm& gemm, double words);

// What the multiplications of a step read more often than once, for each op.
class Tiles {
 public:
  Tiles(const Trace& trace, const Step& step);

  // Bytes beside those that the op touches anyway.
  [[nodiscard]] double extra(std::uint32_t op, double capacity) const;
  [[nodiscard]] double extra(double capacity) const;  // of all ops

 private:
  struct Multiplies {
    std::uint32_t op;
    double element;  // bytes
    double touched;  // bytes: what the op touches once
    const StepOp* does;
  };
  [[nodiscard]] static double extra(const Multiplies& op, double capacity);

  std::vector<Multiplies> ops_;  // ascending by op
};

}  // namespace weir::cost
