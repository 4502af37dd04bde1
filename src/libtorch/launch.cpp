#include "libtorch/launch.h"

#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/function.h>

#include <cstring>
#include <span>
#include <utility>

#include "libtorch/flatten.h"
#include "libtorch/key.h"
#include "libtorch/out_of_budget.h"
#include "libtorch/raw_access.h"

namespace weir::libtorch {

namespace {

// Two ops that draw from one generator must not overlap: the state saved for the second would be
// one that the first is about to change.
std::mutex& drawing() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

void* address_of(const c10::StorageImpl& storage) {
  return const_cast<c10::StorageImpl&>(storage)._mutable_data_ptr_no_checks().get();
}

// Strided and on the CPU: not sparse, nested, quantized, opaque or elsewhere.
bool plain(const c10::TensorImpl& impl) {
  return impl.has_storage() && impl.key_set().has(c10::DispatchKey::CPU);
}

// Functions of PyTorch that are made of several ops read lengths and offsets themselves, and keep
// their addresses from one op to the next. Those are whole numbers, and never many.
bool nobody_remembers(const c10::TensorImpl& impl, const Block& block) {
  constexpr Bytes kMany{1 << 20};
  const c10::ScalarType type = c10::typeMetaToScalarType(impl.dtype());
  return !c10::isIntegralType(type, /*includeBool=*/false) || block.size >= kMany;
}

class InOp {
 public:
  InOp() { ++this_thread().in_op; }
  ~InOp() { --this_thread().in_op; }
};

}  // namespace

// Optimizers change parameters with gradients switched off; so do few other ops outside backward.
Phase current_phase() {
  if (torch::autograd::get_current_node() != nullptr) return Phase::Backward;
  return c10::GradMode::is_enabled() ? Phase::Forward : Phase::Optimizer;
}

void Launch::Scratch::clear() {
  inputs.clear();
  ids.clear();
  mutated.clear();
  secret.clear();
  outputs.clear();
  sizes.clear();
  note.clear();
}

Launch::Scratch& Launch::scratch() {
  static thread_local Scratch scratch;
  return scratch;
}

Launch::Launch(Runtime& runtime, const OpTraits& traits, c10::DispatchKeySet keys,
               torch::jit::Stack& stack)
    : runtime_{runtime},
      traits_{traits},
      keys_{keys},
      stack_{stack},
      scratch_{scratch()},
      arguments_{traits.mutated.size()},
      first_{stack.size() - arguments_},
      recording_{runtime.recorder().on()} {
  scratch_.clear();
}

void Launch::run() {
  const Launching launching;
  runtime_.count_op();
  set_running_op(traits_.op->schema().name().c_str());
  start_recipe();
  try {
    gather();
    if (!pure()) drop_recipe();
    recorded_pure_ = recipe_ != nullptr;
    if (scratch_.ids.empty() && scratch_.secret.empty())
      run_alone();
    else
      run_managed();
  } catch (...) {
    drop_recipe();
    throw;
  }
  runtime_.release_freed();
}

void Launch::start_recipe() {
  if (!traits_.recomputable || !runtime_.options().recompute) return;
  const std::optional<Context> context = Context::current();
  if (!context) return;
  recipe_ = runtime_.recipes().make();
  recipe_->op = &*traits_.op;
  recipe_->keys = keys_;
  recipe_->context = *context;
  if (traits_.generator < 0) return;
  drawing_ = std::unique_lock{drawing()};
  const c10::IValue& given = argument(static_cast<std::size_t>(traits_.generator));
  const at::Generator& generator =
      given.isNone() ? at::detail::getDefaultCPUGenerator() : given.toGenerator();
  if (generator.device().type() != c10::kCPU) return drop_recipe();
  recipe_->random = std::make_unique<RandomState>(RandomState::of(generator));
  recipe_->generator = traits_.generator;
}

void Launch::drop_recipe() {
  if (recipe_ != nullptr) runtime_.recipes().forget(std::exchange(recipe_, nullptr));
}

bool Launch::pure() const { return recipe_ != nullptr && recomputable_ && !opaque_; }

bool Launch::lies() const {
  return traits_.training >= 0 &&
         stack_[first_ + static_cast<std::size_t>(traits_.training)].toBool();
}

void Launch::gather() {
  for (std::size_t i = 0; i < arguments_; ++i) {
    const c10::IValue& value = argument(i);
    std::uint16_t length = 0;
    if (value.isTensor() || (value.isNone() && traits_.tensors[i])) {
      take(i, -1, value);
    } else if (value.isTensorList() || value.isOptionalTensorList()) {
      const c10::ArrayRef<c10::IValue> elements = value.toListRef();
      length = static_cast<std::uint16_t>(elements.size() + 1);
      for (std::size_t k = 0; k < elements.size(); ++k)
        take(i, static_cast<std::int32_t>(k), elements[k]);
    } else if (recording_ && traits_.told[i]) {
      scratch_.note.setting(traits_.op->schema().arguments()[i].name(), value);
    }
    if (recipe_ == nullptr) continue;
    recipe_->arguments.push_back(value.isTensor() || length != 0 ? c10::IValue{} : value);
    recipe_->list_lengths.push_back(length);
  }
}

void Launch::take(std::size_t argument, std::int32_t element, const c10::IValue& value) {
  const std::size_t before = scratch_.ids.size();
  if (value.isTensor()) see(argument, element, value.toTensor());
  if (!recording_) return;
  const bool known = scratch_.ids.size() > before;
  if (value.isTensor())
    scratch_.note.argument(value.toTensor(),
                           known ? static_cast<std::int32_t>(before) : TraceArgument::kNotInput);
  else
    scratch_.note.no_argument();
}

void Launch::see(std::size_t argument, std::int32_t element, const at::Tensor& tensor) {
  if (!tensor.defined()) return;
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (!plain(*impl)) {
    opaque_ = true;
    return;
  }
  c10::StorageImpl* storage = impl->unsafe_storage().unsafeGetStorageImpl();
  void* address = address_of(*storage);
  const bool written = traits_.mutated[argument];
  if (address == nullptr && written) recomputable_ = false;  // it will get another storage
  if (address == nullptr || traits_.shape_only[argument])
    return describe_argument(argument, element, tensor, TensorArgument::ShapeOnly, nullptr);
  if (storage->nbytes() <= kTiny) {
    if (written) recomputable_ = false;
    return describe_argument(argument, element, tensor, TensorArgument::ByValue, nullptr);
  }
  Block* block = runtime_.block_of(*storage);
  if (block == nullptr) {
    recomputable_ = false;
    return runtime_.see_foreign(*storage);
  }
  // Made where we did not see it: somebody may have taken its address before we could watch it.
  const bool made_now = traits_.introduces || (written && !kSeesFactories);
  const bool unseen = block->tensor == kUntold && !made_now;
  if (unseen || watched_by_others(*storage, *block)) runtime_.escape(*block);
  if (block->escaped) recomputable_ = false;
  if (traits_.secret[argument] && lies()) {
    scratch_.secret.push_back({block, storage});
    return;
  }
  const TensorId id = runtime_.tensor_of(*block);
  if (written) scratch_.mutated.push_back(static_cast<std::uint32_t>(scratch_.ids.size()));
  scratch_.inputs.push_back({block, storage});
  scratch_.ids.push_back(id);
  describe_argument(argument, element, tensor, TensorArgument::FromStorage, block);
}

void Launch::describe_argument(std::size_t argument, std::int32_t element, const at::Tensor& tensor,
                               TensorArgument::Source source, const Block* block) {
  if (recipe_ == nullptr) return;
  TensorArgument& described = recipe_->tensors.emplace_back();
  describe(tensor, described, recipe_->extents);
  described.argument = static_cast<std::uint16_t>(argument);
  described.element = element;
  described.source = source;
  if (block != nullptr) described.storage = block->storage;
  if (source == TensorArgument::ByValue && described.bytes != 0)
    std::memcpy(described.value.data(),
                address_of(*tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl()),
                described.bytes);
}

// Running statistics: nothing that this op makes depends on what they were, so their change is an
// op of its own.
std::optional<Ticket> Launch::begin_secret() {
  if (scratch_.secret.empty()) return std::nullopt;
  std::vector<TensorId> ids;
  std::vector<std::uint32_t> all;
  for (const Input& written : scratch_.secret) {
    all.push_back(static_cast<std::uint32_t>(ids.size()));
    ids.push_back(runtime_.tensor_of(*written.block));
  }
  Ticket ticket = runtime_.manager().begin(
      {.inputs = ids, .mutated = all, .pure = false, .phase = current_phase()});
  if (ticket.waits()) runtime_.restore(ticket);
  return ticket;
}

void Launch::kernel() {
  arm(false);
  const bool measured = runtime_.measures_scratch();
  if (measured) runtime_.start_taking();
  const Nanos room = this_thread().room, begin = runtime_.tick();
  {
    const InOp in_op;
    traits_.op->redispatchBoxed(keys_, &stack_);
  }
  cost_ = runtime_.tick() - begin - (this_thread().room - room);
  runtime_.count_own(cost_);
  if (measured) taken_ = runtime_.taken();
  if (drawing_.owns_lock()) drawing_.unlock();
}

// No input that the manager knows: it hears of the op only if something comes out of it.
void Launch::run_alone() {
  kernel();
  growing_ = recipe_;
  find_outputs();
  if (scratch_.outputs.empty()) {
    drop_recipe();
    arm(true);
    return;
  }
  finish(runtime_.manager().begin({.tag = reinterpret_cast<std::uint64_t>(recipe_),
                                   .pure = recipe_ != nullptr,
                                   .phase = current_phase(),
                                   .kind = traits_.number}));
}

void Launch::run_managed() {
  std::optional<Ticket> secret = begin_secret();
  std::optional<Ticket> ticket =
      runtime_.manager().begin({.tag = reinterpret_cast<std::uint64_t>(recipe_),
                                .inputs = scratch_.ids,
                                .mutated = scratch_.mutated,
                                .pure = recipe_ != nullptr,
                                .phase = current_phase(),
                                .kind = traits_.number});
  growing_ = std::exchange(recipe_, nullptr);  // it is the manager's to forget from here on
  try {
    if (ticket->waits()) runtime_.restore(*ticket);
    if (runtime_.options().checksum)
      for (const Input& input : scratch_.inputs) runtime_.verify(*input.block);
    kernel();
  } catch (...) {
    ticket.reset();
    fail();
    throw;
  }
  find_outputs();
  finish(std::move(*ticket));
  if (!secret) return;
  runtime_.manager().declare(*secret, {}, {});
  runtime_.manager().end(std::move(*secret));
}

void Launch::find_outputs() {
  std::uint16_t position = 0;
  const auto returned = std::span{stack_}.subspan(first_);
  for_each_tensor(returned, [&](const at::Tensor& tensor) {
    const std::uint16_t at = position++;
    if (!tensor.defined()) return;
    c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
    if (!plain(*impl)) {
      opaque_ = true;
      return;
    }
    c10::StorageImpl* storage = impl->unsafe_storage().unsafeGetStorageImpl();
    void* address = address_of(*storage);
    if (address == nullptr || storage->nbytes() <= kTiny) return;
    Block* block = runtime_.block_of(*storage);
    if (block == nullptr) return runtime_.see_foreign(*storage);
    if (block->tensor != kUntold) return;
    for (const Input& known : scratch_.outputs)
      if (known.block == block) return;
    if (nobody_remembers(*impl, *block)) runtime_.give_home(*block, *storage);
    scratch_.outputs.push_back({block, storage});
    scratch_.sizes.push_back({.size = block->size});
    if (recording_) scratch_.note.output(tensor);
    if (growing_ != nullptr) growing_->fresh.push_back(at);
  });
}

void Launch::finish(Ticket ticket) {
  Manager& manager = runtime_.manager();
  recipe_ = nullptr;
  const TensorId first = manager.declare(ticket, scratch_.sizes, cost_);
  for (std::uint32_t i = 0; i < scratch_.outputs.size(); ++i) {
    Block& block = *scratch_.outputs[i].block;
    ticket.deliver(i, std::move(block.charge));
    runtime_.bind(block, TensorId{index(first) + i}, ticket.storage(i));
  }
  if (runtime_.recorder().on()) record();
  manager.end(std::move(ticket), scratch_bytes());
  if (opaque_ || !traits_.trusted) escape_inputs();
  arm(true);
}

// What the op was writing to is neither what it was nor what it was to become.
void Launch::fail() {
  for (std::uint32_t position : scratch_.mutated)
    const Pin changed = runtime_.access(*scratch_.inputs[position].block, Access::Write);
}

// Something that we do not understand has seen these tensors, and may keep their addresses.
void Launch::escape_inputs() {
  for (const Input& input : scratch_.inputs) runtime_.escape(*input.block);
  for (const Input& output : scratch_.outputs) runtime_.escape(*output.block);
}

void Launch::arm(bool on) {
  for (const std::vector<Input>* list : {&scratch_.inputs, &scratch_.secret, &scratch_.outputs})
    for (const Input& item : *list) {
      // What only the op's arguments held is gone after it.
      if (on && std::ranges::find(this_thread().freed, item.block) != this_thread().freed.end())
        continue;
      if (on)
        watch(*item.storage, *item.block);
      else
        unwatch(*item.storage, *item.block);
    }
}

// What the op took for a while.
Bytes Launch::scratch_bytes() const {
  Bytes scratch = taken_;
  for (const Input& output : scratch_.outputs) scratch -= output.block->size;
  return std::max(scratch, Bytes{0});
}

void Launch::record() {
  std::vector<Block*> inputs, outputs;
  for (const Input& input : scratch_.inputs) inputs.push_back(input.block);
  for (const Input& output : scratch_.outputs) outputs.push_back(output.block);
  Recorder::Op op{.name = traits_.op->schema().name(),
                  .cost = cost_,
                  .scratch = scratch_bytes(),
                  .inputs = inputs,
                  .mutated = scratch_.mutated,
                  .outputs = outputs,
                  .recomputable = recorded_pure_,
                  .phase = current_phase()};
  if (recording_) scratch_.note.tell(op);
  runtime_.recorder().op(op);
}

}  // namespace weir::libtorch
