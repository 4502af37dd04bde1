#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include "libtorch/op_note.h"
#include "libtorch/op_traits.h"
#include "libtorch/runtime.h"

namespace weir::libtorch {

// What the program is doing, for the op that it runs now.
Phase current_phase();

// One op of the program on its way through the manager.
class Launch {
 public:
  Launch(Runtime& runtime, const OpTraits& traits, c10::DispatchKeySet keys,
         torch::jit::Stack& stack);

  void run();

 private:
  struct Input {
    Block* block;
    c10::StorageImpl* storage;
  };
  // Kept between ops, so that an op allocates nothing.
  struct Scratch {
    std::vector<Input> inputs;
    std::vector<TensorId> ids;
    std::vector<std::uint32_t> mutated;  // places among the ids
    std::vector<Input> secret;           // written though the schema is silent
    std::vector<Input> outputs;
    std::vector<Output> sizes;
    OpNote note;
    void clear();
  };
  static Scratch& scratch();

  void gather();
  void take(std::size_t argument, std::int32_t element, const c10::IValue& value);
  void see(std::size_t argument, std::int32_t element, const at::Tensor& tensor);
  void describe_argument(std::size_t argument, std::int32_t element, const at::Tensor& tensor,
                         TensorArgument::Source source, const Block* block);
  void start_recipe();
  void drop_recipe();
  [[nodiscard]] bool pure() const;
  std::optional<Ticket> begin_secret();
  void kernel();
  void run_alone();
  void run_managed();
  void finish(Ticket ticket);
  void find_outputs();
  void fail();
  void escape_inputs();
  void arm(bool on);
  void record();
  [[nodiscard]] Bytes scratch_bytes() const;
  [[nodiscard]] c10::IValue& argument(std::size_t i) { return stack_[first_ + i]; }
  [[nodiscard]] bool lies() const;

  Runtime& runtime_;
  const OpTraits& traits_;
  const c10::DispatchKeySet keys_;
  torch::jit::Stack& stack_;
  Scratch& scratch_;
  std::size_t arguments_, first_;
  Recipe* recipe_ = nullptr;              // ours to drop
  Recipe* growing_ = nullptr;             // its outputs are still to be noted
  std::unique_lock<std::mutex> drawing_;  // while an op draws random numbers
  const bool recording_;
  bool recomputable_ = true;
  bool recorded_pure_ = false;
  bool opaque_ = false;  // a tensor without bytes of its own is involved
  Nanos cost_{};
  Bytes taken_{};  // the most that was taken at one time while it ran; told only to the recorder
};

}  // namespace weir::libtorch
