#include "cost/blocks.h"

#include <algorithm>

namespace weir::cost {
namespace {

constexpr Bytes kPage{4096};
constexpr std::uint32_t kNone = UINT32_MAX;

// The ops of one phase between which a result of that phase is still to be read.
struct Span {
  std::uint32_t made = kNone, last_read = 0;
};

std::vector<Span> spans_of(const Step& step) {
  std::vector<Span> spans(step.items.size());
  std::vector<bool> seen(step.items.size(), false);
  for (const Sweep& sweep : step.sweeps)
    for (const Access& access : step.accesses_of(sweep)) {
      Span& span = spans[access.item];
      const bool made = !seen[access.item] && access.write && !access.read;
      seen[access.item] = true;
      if (made && step.items[access.item].bytes >= kPage) span = {sweep.op, sweep.op};
      if (span.made == kNone || !access.read) continue;
      if (step.ops[span.made].phase == step.ops[sweep.op].phase) span.last_read = sweep.op;
    }
  return spans;
}

}  // namespace

Blocks::Blocks(const Step& step) {
  for (const StepOp& op : step.ops) phase_.push_back(op.phase);
  number_layers(step);
  number_blocks(step);
}

void Blocks::number_layers(const Step& step) {
  std::vector<Bytes> touched(step.ops.size());
  for (const Sweep& sweep : step.sweeps)
    for (const Access& access : step.accesses_of(sweep))
      touched[sweep.op] += step.items[access.item].bytes;
  for (const Bytes bytes : touched) {
    if (bytes >= kPage) ++layers_;
    layer_.push_back(layers_);
  }
}

void Blocks::number_blocks(const Step& step) {
  const std::size_t ops = step.ops.size();
  std::vector<std::int32_t> change(ops + 1, 0);  // in how many results are still to be read
  for (const Span& span : spans_of(step)) {
    if (span.made == kNone || span.last_read == span.made) continue;
    ++change[span.made];
    --change[span.last_read];
  }
  std::int32_t to_be_read = 0;
  std::uint32_t block = 0;
  for (std::size_t op = 0; op < ops; ++op) {
    block_.push_back(block);
    to_be_read += change[op];
    if (to_be_read <= 1 || (op + 1 < ops && phase_[op + 1] != phase_[op])) ++block;
  }
}

Scope Blocks::scope(std::uint32_t from_op, std::uint32_t to_op) const {
  if (from_op == to_op) return Scope::IntraOp;
  if (layer_[to_op] - layer_[from_op] <= 1) return Scope::Adjacent;
  return phase_[from_op] == phase_[to_op] ? Scope::Block : Scope::ForwardBackward;
}

bool Blocks::beyond_block(std::uint32_t from_op, std::uint32_t to_op) const {
  if (scope(from_op, to_op) != Scope::Block || block_[from_op] == block_[to_op]) return false;
  const bool enters = block_[from_op] + 1 == block_[to_op] && block_[from_op + 1] == block_[to_op];
  return !enters;
}

std::uint32_t Blocks::blocks() const {
  std::uint32_t blocks = 0;
  for (std::size_t first = 0, end = 0; first < block_.size(); first = end) {
    while (end < block_.size() && block_[end] == block_[first]) ++end;
    if (layer_[end - 1] > layer_[first]) ++blocks;
  }
  return blocks;
}

}  // namespace weir::cost
