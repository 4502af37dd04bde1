#pragma once

#include "plan/checkpoints.h"

namespace weir::plan {

// Chen et al. 2016. Every k-th candidate is a checkpoint, k the root of their number.
void try_chen_sqrt(const Problem& problem, const Candidates& candidates, const Try& consider);

// A checkpoint wherever the bytes since the last one exceed a size; sizes from small to large.
void try_chen_greedy(const Problem& problem, const Candidates& candidates, const Try& consider);

}  // namespace weir::plan
