// Every op of a thread that is interposed on comes through here, below autograd.
#include "libtorch/interposer.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include "libtorch/fork.h"
#include "libtorch/key.h"
#include "libtorch/launch.h"
#include "libtorch/step_finder.h"

namespace weir::libtorch {

namespace {

using Stack = torch::jit::Stack;

// Runs an op on lists of tensors as many ops on lists of one.
void split(Runtime& runtime, const OpTraits& traits, c10::DispatchKeySet keys, Stack& stack) {
  const std::size_t arguments = traits.mutated.size();
  const Stack all = torch::jit::pop(stack, arguments);
  const std::size_t length = all.front().toListRef().size();
  for (std::size_t i = 0; i < length; ++i) {
    Stack one;
    for (const c10::IValue& value : all) {
      if (!value.isTensorList() || value.toListRef().size() != length) {
        one.push_back(value);
        continue;
      }
      c10::List<at::Tensor> element;
      element.push_back(value.toListRef()[i].toTensor());
      one.emplace_back(std::move(element));
    }
    Launch{runtime, traits, keys, one}.run();
  }
}

}  // namespace

void interposed(const c10::OperatorHandle& op, c10::DispatchKeySet all_keys, Stack* stack) {
  const c10::DispatchKeySet keys = below(all_keys);
  Runtime& runtime = Runtime::get();
  stand_before_new_ops();
  if (!runtime.active()) {
    if (in_forked_child()) read_arguments(op, *stack);
    const c10::impl::ExcludeDispatchKeyGuard unseen{kKey};
    return op.redispatchBoxed(keys, stack);
  }
  const OpTraits& traits = traits_of(op);
  if (StepFinder& finder = StepFinder::get(); finder.on() && finder.begins_step(traits, *stack))
    runtime.step();
  if (traits.kind == OpKind::Decomposes) return op.redispatchBoxed(keys, stack);
  const c10::impl::ExcludeDispatchKeyGuard unseen{kKey};
  if (traits.kind == OpKind::Metadata) return op.redispatchBoxed(keys, stack);
  if (traits.kind == OpKind::Splits) return split(runtime, traits, keys, *stack);
  Launch{runtime, traits, keys, *stack}.run();
}

bool interpose(bool on) {
  const bool before = c10::impl::tls_is_dispatch_key_included(kKey);
  c10::impl::tls_set_dispatch_key_included(kKey, on);
  return before;
}

}  // namespace weir::libtorch
