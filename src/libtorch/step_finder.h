#pragma once

#include <atomic>
#include <mutex>
#include <unordered_map>

#include <ATen/core/stack.h>
#include <c10/core/StorageImpl.h>

#include "libtorch/op_traits.h"

namespace weir::libtorch {

// Finds the steps of a program that does not say where they end: a step is over when parameters
// were changed in place and the first one of them is used for a gradient again. Parameters are
// leaves of autograd's graph that were used so before, which leaves out their initial values. A
// program without such changes has no steps. A wrong guess ends some recipes early and does no
// harm.
class StepFinder {
 public:
  static StepFinder& get();

  void turn_on() { on_ = true; }
  [[nodiscard]] bool on() const { return on_.load(std::memory_order_relaxed); }

  // An op is about to run. True: the step before it is over.
  bool begins_step(const OpTraits& traits, const torch::jit::Stack& stack);
  // Nothing more will run. True: that ended a step.
  bool end();

 private:
  bool uses_parameter(const at::Tensor& tensor);
  [[nodiscard]] bool is_parameter(const at::Tensor& tensor) const;
  void forget_dead();

  std::atomic<bool> on_{false};
  std::mutex mutex_;
  bool changed_ = false;  // a parameter, since the step began
  // Kept by weak references, so that an address means one storage only.
  std::unordered_map<const c10::StorageImpl*, c10::weak_intrusive_ptr<c10::StorageImpl>>
      parameters_;
};

}  // namespace weir::libtorch
