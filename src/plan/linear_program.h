#pragma once

#include "solver/linear_program.h"

namespace weir::plan {

using solver::Entry, solver::LinearProgram, solver::Outcome, solver::Solution, solver::solve,
    solver::SolveOptions;

}  // namespace weir::plan
