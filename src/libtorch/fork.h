#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace weir::libtorch {

// From the first call on a forked child is left with what is resident and what the tier has: it
// manages nothing, writes nothing to the tier and recomputes nothing.
void follow_forks();

// Did this process begin as a child of one that had a budget?
[[nodiscard]] bool in_forked_child();

// In such a child: reads the bytes of this address, if they are away, from its parent's tier.
// False: they are not there.
bool read_from_parents_tier(void* address);

// In such a child, before an op: the same for its arguments. Throws c10::Error. A child does not
// wait for the fault, because the handlers of data loaders' workers replace ours.
void read_arguments(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

inline constexpr const char* kOnlyInParent =
    "weir: a forked child read a tensor whose bytes are only in its parent; read it before the "
    "fork";

}  // namespace weir::libtorch
