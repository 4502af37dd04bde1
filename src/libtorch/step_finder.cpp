#include "libtorch/step_finder.h"

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include <span>
#include <utility>

#include "libtorch/flatten.h"

namespace weir::libtorch {

namespace {

c10::StorageImpl* storage_of(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.unsafeGetTensorImpl()->has_storage()) return nullptr;
  return tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
}

}  // namespace

StepFinder& StepFinder::get() {
  static auto* finder = new StepFinder;
  return *finder;
}

bool StepFinder::uses_parameter(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.requires_grad() || !tensor.is_leaf()) return false;
  c10::StorageImpl* storage = storage_of(tensor);
  if (storage == nullptr) return false;
  if (!parameters_.contains(storage)) {
    auto* weak = c10::raw::intrusive_ptr::make_weak(storage);
    parameters_.emplace(storage, c10::weak_intrusive_ptr<c10::StorageImpl>::reclaim(weak));
  }
  return true;
}

bool StepFinder::is_parameter(const at::Tensor& tensor) const {
  return parameters_.contains(storage_of(tensor));
}

bool StepFinder::begins_step(const OpTraits& traits, const torch::jit::Stack& stack) {
  const bool differentiates = c10::GradMode::is_enabled();
  const std::span arguments = std::span{stack}.last(traits.mutated.size());
  const std::lock_guard lock{mutex_};
  bool used = false;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    for_each_tensor(arguments.subspan(i, 1), [&](const at::Tensor& tensor) {
      if (traits.mutated[i])
        changed_ = changed_ || is_parameter(tensor);
      else if (differentiates)
        used = uses_parameter(tensor) || used;
    });
  if (!used || !changed_) return false;
  changed_ = false;
  forget_dead();
  return true;
}

bool StepFinder::end() {
  const std::lock_guard lock{mutex_};
  return std::exchange(changed_, false);
}

void StepFinder::forget_dead() {
  std::erase_if(parameters_, [](const auto& entry) { return entry.second.expired(); });
}

}  // namespace weir::libtorch
