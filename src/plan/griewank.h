#pragma once

#include "plan/checkpoints.h"

namespace weir::plan {

// Griewank and Walther's treeverse: a chain is reversed with few checkpoints by splitting it again
// and again; with 1, 2, 3... checkpoints at once, which is the logarithm of the length when every
// position is run about as often.
void try_griewank(const Problem& problem, const Candidates& candidates, const Try& consider);

}  // namespace weir::plan
