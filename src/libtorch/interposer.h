#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace weir::libtorch {

// The kernel that stands for every op on a thread that is interposed on.
void interposed(const c10::OperatorHandle& op, c10::DispatchKeySet all_keys,
                torch::jit::Stack* stack);

// Stands before the ops that were defined since it was last called. With a key whose fallback sees
// every op there is nothing to do.
void stand_before_new_ops();

}  // namespace weir::libtorch
