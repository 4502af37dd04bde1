#include "plan/chen.h"

#include <algorithm>
#include <cmath>

namespace weir::plan {
namespace {

constexpr int kSizes = 40;  // that the greedy one tries

Bytes bytes_made(const Problem& problem, std::uint32_t op) {
  Bytes sum;
  for (ValueId output : problem.ops[op].outputs) sum += problem[output].size;
  return sum;
}

// A checkpoint is wanted as long as its own readers, and as a segment that is made from it.
Retention with_checkpoints(const Problem& problem, const std::vector<std::uint32_t>& checkpoints) {
  Retention retention{problem};
  const Segments segments{problem, checkpoints};
  keep_segments(retention, problem, segments);
  for (std::uint32_t checkpoint : checkpoints) {
    for (ValueId output : problem.ops[checkpoint].outputs) {
      Stage last = last_read(problem, output);
      for (std::uint32_t user : problem[output].users)
        if (is_forward(problem, user))
          last = std::max(last, segments.remade(segments.of(user)).value_or(0));
      keep_until(retention, problem, output, last);
    }
  }
  return retention;
}

}  // namespace

void try_chen_sqrt(const Problem& problem, const Candidates& candidates, const Try& consider) {
  const auto step = static_cast<std::size_t>(std::sqrt(static_cast<double>(candidates.size())));
  std::vector<std::uint32_t> checkpoints;
  for (std::size_t i = 0; step > 0 && i < candidates.size(); i += step)
    checkpoints.push_back(candidates[i]);
  consider(with_checkpoints(problem, checkpoints));
}

void try_chen_greedy(const Problem& problem, const Candidates& candidates, const Try& consider) {
  Bytes all;
  for (std::uint32_t op : candidates) all += bytes_made(problem, op);
  const double ratio =
      std::pow(static_cast<double>(std::max<std::int64_t>(all.n, 1)), 1.0 / kSizes);
  std::vector<std::uint32_t> before;
  for (int i = 0; i <= kSizes; ++i) {
    const double most = std::pow(ratio, i);
    std::vector<std::uint32_t> checkpoints;
    Bytes since;
    for (std::uint32_t op : candidates) {
      since += bytes_made(problem, op);
      if (static_cast<double>(since.n) <= most) continue;
      checkpoints.push_back(op);
      since = {};
    }
    if (i > 0 && checkpoints == before) continue;
    consider(with_checkpoints(problem, checkpoints));
    before = std::move(checkpoints);
  }
}

}  // namespace weir::plan
