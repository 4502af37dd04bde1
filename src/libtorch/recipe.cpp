#include "libtorch/recipe.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/TensorImpl.h>

#include <cstring>

namespace weir::libtorch {

RandomState RandomState::of(const at::Generator& generator) {
  auto* impl = at::check_generator<at::CPUGeneratorImpl>(generator);
  const std::lock_guard lock{impl->mutex_};
  return {impl->engine(), impl->next_float_normal_sample(), impl->next_double_normal_sample()};
}

at::Generator RandomState::generator() const {
  static thread_local at::Generator own = at::make_generator<at::CPUGeneratorImpl>();
  auto* impl = at::check_generator<at::CPUGeneratorImpl>(own);
  impl->set_engine(engine);
  impl->set_next_float_normal_sample(next_float);
  impl->set_next_double_normal_sample(next_double);
  return own;
}

void describe(const at::Tensor& tensor, TensorArgument& argument,
              std::vector<std::int64_t>& extents) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  argument.wrapped = impl->is_wrapped_number();
  argument.conjugate = tensor.is_conj();
  argument.negative = tensor.is_neg();
  argument.type = c10::typeMetaToScalarType(impl->dtype());
  argument.dimensions = static_cast<std::uint8_t>(impl->dim());
  argument.first_extent = static_cast<std::uint32_t>(extents.size());
  argument.offset = impl->storage_offset();
  argument.bytes = impl->unsafe_storage().nbytes();
  argument.storage = kNoStorage;
  const c10::IntArrayRef sizes = impl->sizes(), strides = impl->strides();
  extents.insert(extents.end(), sizes.begin(), sizes.end());
  extents.insert(extents.end(), strides.begin(), strides.end());
}

void Recipe::clear() {
  arguments.clear();
  list_lengths.clear();
  tensors.clear();
  extents.clear();
  random.reset();
  generator = -1;
  fresh.clear();
}

// A tensor on bytes that are ours: it owns nothing. A value is copied into memory of its own.
at::Tensor Recipe::tensor(const TensorArgument& argument, void* address) const {
  c10::DataPtr data{address, c10::Device(c10::kCPU)};
  if (argument.source == TensorArgument::ByValue && argument.bytes != 0) {
    data = c10::GetCPUAllocator()->allocate(argument.bytes);
    std::memcpy(data.get(), argument.value.data(), argument.bytes);
  }
  c10::Storage storage{c10::Storage::use_byte_size_t(), argument.bytes, std::move(data),
                       /*allocator=*/nullptr, /*resizable=*/false};
  c10::DispatchKeySet keyset{c10::DispatchKey::CPU};
  if (argument.conjugate) keyset = keyset.add(c10::DispatchKey::Conjugate);
  if (argument.negative) keyset = keyset.add(c10::DispatchKey::Negative);
  at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), keyset, c10::scalarTypeToTypeMeta(argument.type));
  c10::TensorImpl* impl = made.unsafeGetTensorImpl();
  const std::int64_t* extent = extents.data() + argument.first_extent;
  impl->set_sizes_and_strides({extent, argument.dimensions},
                              {extent + argument.dimensions, argument.dimensions}, argument.offset);
  if (argument.wrapped) impl->set_wrapped_number(true);
  return made;
}

void Recipe::prepare(torch::jit::Stack& stack) const {
  const std::vector<c10::Argument>& schema = op->schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (list_lengths[i] == 0) {
      stack.push_back(arguments[i]);
      continue;
    }
    const c10::TypePtr element =
        schema[i].type()->kind() == c10::TypeKind::OptionalType
            ? schema[i].type()->castRaw<c10::OptionalType>()->getElementType()
            : schema[i].type();
    c10::impl::GenericList list{element->castRaw<c10::ListType>()->getElementType()};
    list.resize(list_lengths[i] - 1U);
    stack.emplace_back(std::move(list));
  }
  if (random)
    stack[stack.size() - arguments.size() + static_cast<std::size_t>(generator)] =
        random->generator();
}

void Recipe::put(torch::jit::Stack& stack, std::size_t first, const TensorArgument& argument,
                 at::Tensor tensor) const {
  c10::IValue& place = stack[first + argument.argument];
  if (argument.element < 0)
    place = std::move(tensor);
  else
    place.toList().set(static_cast<std::size_t>(argument.element), std::move(tensor));
}

Recipe* RecipePool::make() {
  in_use_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock{mutex_};
  if (idle_.empty()) {
    all_.push_back(std::make_unique<Recipe>());
    return all_.back().get();
  }
  Recipe* recipe = idle_.back();
  idle_.pop_back();
  return recipe;
}

void RecipePool::forget(Recipe* recipe) {
  recipe->clear();
  in_use_.fetch_sub(1, std::memory_order_relaxed);
  const std::lock_guard lock{mutex_};
  idle_.push_back(recipe);
}

void RecipePool::forget_all() {
  const std::lock_guard lock{mutex_};
  in_use_ = 0;
  idle_.clear();
  for (const std::unique_ptr<Recipe>& recipe : all_) {
    recipe->clear();
    idle_.push_back(recipe.get());
  }
}

}  // namespace weir::libtorch
