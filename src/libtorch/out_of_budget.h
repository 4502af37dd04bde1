#pragma once

#include "weir/errors.h"

namespace weir::libtorch {

// What else is known when the budget cannot be held.
struct Circumstances {
  Bytes step_needs{};      // no smaller budget can do for the step; zero: not known
  bool tier_full = false;  // something could not be offloaded
};

// Throws what PyTorch's own handlers of memory errors expect, naming the op and the numbers.
[[noreturn]] void throw_out_of_budget(const OutOfBudget& error, const Circumstances& known);

// The same, where bringing back what the op reads would hardly end.
[[noreturn]] void throw_thrashing(std::uint64_t runs, Bytes budget);

// The name of the op that the program runs now, for that message. The text must stay.
void set_running_op(const char* name);

}  // namespace weir::libtorch
