#pragma once

#include <cstdint>
#include <vector>

#include "cost/step.h"

namespace weir::cost {

// How far apart the two touches are between which bytes stay in the cache.
enum class Scope : std::uint8_t {
  IntraOp,          // passes of one op
  Adjacent,         // a layer and the next
  Block,            // farther, but both in forward, both in backward, or both in the optimizer
  ForwardBackward,  // from one of these to another
};
inline constexpr std::size_t kScopes = 4;

// Layers and blocks of a step. A *layer* is an op that touches at least a page; others belong to
// the layer before them. A *block* is what lies between two places in a phase where at most one
// result of that phase is still to be read in it: in a chain every layer is a block of its own,
// around a residual connection all layers that it spans are one.
class Blocks {
 public:
  explicit Blocks(const Step& step);

  [[nodiscard]] Scope scope(std::uint32_t from_op, std::uint32_t to_op) const;
  // Of two ops with Scope::Block: not in one block, as layers that share a weight.
  [[nodiscard]] bool beyond_block(std::uint32_t from_op, std::uint32_t to_op) const;

  [[nodiscard]] std::uint32_t layers() const { return layers_; }
  // Blocks of more than one layer.
  [[nodiscard]] std::uint32_t blocks() const;

 private:
  void number_layers(const Step& step);
  void number_blocks(const Step& step);

  std::vector<std::uint32_t> layer_, block_;  // of each op
  std::vector<Phase> phase_;
  std::uint32_t layers_ = 0;
};

}  // namespace weir::cost
