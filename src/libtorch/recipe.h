#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/MT19937RNGEngine.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "libtorch/context.h"
#include "weir/types.h"

namespace weir::libtorch {

// Storages of at most this many bytes are kept in the recipe by value: the manager does not know
// them.
inline constexpr std::size_t kTiny = 64;

// Where a tensor argument lies and how it looks upon its bytes.
struct TensorArgument {
  enum Source : std::uint8_t { FromStorage, ByValue, ShapeOnly };
  std::uint16_t argument;
  std::int32_t element;  // in a list; -1: the argument itself
  Source source;
  bool wrapped, conjugate, negative;
  c10::ScalarType type;
  std::uint8_t dimensions;
  std::uint32_t first_extent;  // sizes, then strides
  std::int64_t offset;
  std::size_t bytes;  // of its storage
  StorageId storage;
  std::array<std::byte, kTiny> value;  // defined if it is ByValue
};

// The state of a generator before an op drew from it.
struct RandomState {
  at::mt19937 engine;
  std::optional<float> next_float;
  std::optional<double> next_double;

  static RandomState of(const at::Generator& generator);
  // A generator that continues from here, private to the calling thread.
  [[nodiscard]] at::Generator generator() const;
};

// What is needed to run an op again, without holding a tensor.
struct Recipe {
  const c10::OperatorHandle* op = nullptr;
  c10::DispatchKeySet keys;
  Context context;
  std::vector<c10::IValue> arguments;  // tensors and lists with tensors are None
  std::vector<std::uint16_t>
      list_lengths;  // by argument: elements of a list with tensors, plus one
  std::vector<TensorArgument> tensors;
  std::vector<std::int64_t> extents;
  std::unique_ptr<RandomState> random;
  std::int16_t generator = -1;
  std::vector<std::uint16_t> fresh;  // which of the tensors it returns are new, in order

  void clear();
  // The arguments as they were. `address` tells where a storage's bytes are now.
  template <typename Address>
  void push_arguments(torch::jit::Stack& stack, Address&& address) const;

 private:
  [[nodiscard]] at::Tensor tensor(const TensorArgument& argument, void* address) const;
  void put(torch::jit::Stack& stack, std::size_t first, const TensorArgument& argument,
           at::Tensor tensor) const;
  void prepare(torch::jit::Stack& stack) const;
};

// Says how a tensor looks upon its bytes; adds its sizes and strides to the extents.
void describe(const at::Tensor& tensor, TensorArgument& argument,
              std::vector<std::int64_t>& extents);

// Recipes are made and forgotten for every op: their memory is used again.
class RecipePool {
 public:
  Recipe* make();
  void forget(Recipe* recipe);
  void forget_all();
  [[nodiscard]] std::size_t in_use() const { return in_use_; }

  // For pthread_atfork: nobody is inside between these two.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Recipe>> all_;
  std::vector<Recipe*> idle_;
  std::atomic<std::size_t> in_use_{0};
};

template <typename Address>
void Recipe::push_arguments(torch::jit::Stack& stack, Address&& address) const {
  const std::size_t first = stack.size();
  prepare(stack);
  for (const TensorArgument& argument : tensors) {
    void* bytes = nullptr;
    if (argument.source == TensorArgument::FromStorage) bytes = address(argument.storage);
    put(stack, first, argument, tensor(argument, bytes));
  }
}

}  // namespace weir::libtorch
