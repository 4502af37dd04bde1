#pragma once

#include <string>

#include "weir/errors.h"

namespace weir::libtorch {

// Throws what PyTorch's own handlers of memory errors expect, naming the op and the numbers.
[[noreturn]] void throw_out_of_budget(const OutOfBudget& error);

// The name of the op that the program runs now, for that message. The text must stay.
void set_running_op(const char* name);

}  // namespace weir::libtorch
