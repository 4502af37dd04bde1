// Bringing storages back: ops that are run again, and raw access from outside of ops.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "libtorch/flatten.h"
#include "libtorch/key.h"
#include "libtorch/out_of_budget.h"
#include "libtorch/runtime.h"

namespace weir::libtorch {

namespace {

// While it lives the thread runs an op again: allocations may be placed where the outputs were.
class Replaying {
 public:
  Replaying() : before_{std::exchange(this_thread().replaying, true)} {}
  ~Replaying() { this_thread().replaying = before_; }

 private:
  bool before_;
};

// The memory of an output is ours from now on: destroying the tensor frees nothing.
void* take_memory(c10::StorageImpl& storage) {
  c10::DataPtr data = std::move(storage._mutable_data_ptr_no_checks());
  void* address = data.get();
  data.release_context();
  return address;
}

}  // namespace

// With hardly any memory beside what is held, bringing one tensor back can take more runs than
// anybody waits for. No order that gets anywhere runs each op this often.
void Runtime::restore(Ticket& ticket) {
  constexpr std::uint64_t kOften = 100, kFew = 1000;
  const std::lock_guard lock{restoring_};
  std::uint64_t runs = 0;
  while (const OpRecord* missing = next(ticket)) {
    if (++runs > kOften * recipes_.in_use() + kFew) {
      if (!budget_.learning()) throw_thrashing(runs, core_->manager->ledger().budget());
      set_budget({core_->manager->ledger().budget().n * 5 / 4});
      runs = 0;
    }
    replay(*missing, ticket);
  }
}

// What the manager itself needs room for is a fetch, which can be asked for again.
const OpRecord* Runtime::next(Ticket& ticket) {
  for (;;) {
    try {
      return core_->manager->next(ticket);
    } catch (const OutOfBudget& error) {
      if (!budget_.learning()) fail(error);
      set_budget(error.smallest_budget());
    }
  }
}

void Runtime::replay(const OpRecord& op, Ticket& ticket) {
  const Recipe& recipe = *reinterpret_cast<const Recipe*>(op.tag);
  const Nanos room = this_thread().room, begin = tick();
  outputs_.assign(recipe.fresh.size(), nullptr);
  lendable_.clear();
  for (std::uint32_t i = 0; i < recipe.fresh.size(); ++i)
    if (const StorageId target = ticket.target(i); target != kNoStorage)
      if (Block* block = blocks_[target]; block != nullptr && !may_move(*block))
        lendable_.push_back(block);
  torch::jit::Stack stack;
  recipe.push_arguments(stack, [&](StorageId storage) { return blocks_[storage]->address; });
  const Replaying replaying;
  try {
    const ContextGuard context{recipe.context};
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const c10::impl::ExcludeDispatchKeyGuard unseen{kKey};
    recipe.op->redispatchBoxed(recipe.keys, &stack);
    collect_outputs(recipe, stack, ticket);
  } catch (...) {
    stack.clear();
    give_up_outputs();
    throw;
  }
  take_back_lent();
  recompute_ns_ += (tick() - begin - (this_thread().room - room)).n;
}

void Runtime::collect_outputs(const Recipe& recipe, torch::jit::Stack& stack, Ticket& ticket) {
  std::size_t position = 0;
  std::uint32_t output = 0;
  for_each_tensor(stack, [&](const at::Tensor& tensor) {
    if (output == recipe.fresh.size() || position++ != recipe.fresh[output]) return;
    const std::uint32_t at = output++;
    if (ticket.target(at) == kNoStorage) return;  // freed with its tensor
    c10::StorageImpl& storage =
        *tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
    outputs_[at] = memory_.find_or_make(take_memory(storage));
  });
  WEIR_CHECK(output == recipe.fresh.size(), output, recipe.fresh.size());
  stack.clear();  // what nobody wants may be in memory that was lent
  for (std::uint32_t i = 0; i < outputs_.size(); ++i) untangle(i, ticket.target(i));
  for (std::uint32_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i] != nullptr) ticket.deliver(i, std::move(outputs_[i]->charge));
}

// Of two blocks of one size that were lent, each may have got the other's output.
void Runtime::untangle(std::uint32_t output, StorageId storage) {
  for (;;) {
    Block* from = outputs_[output];
    if (from == nullptr || !from->lent) return;
    Block* target = blocks_[storage];
    if (from == target) return;
    if (target == nullptr || !target->lent) {
      Block& copy = allocate_large(from->size);
      std::memcpy(copy.address, from->address, static_cast<std::size_t>(from->size.n));
      outputs_[output] = &copy;
      return take_back(*from);
    }
    std::swap_ranges(from->address, from->address + from->size.n, target->address);
    const auto other = std::ranges::find(outputs_, target);
    if (other != outputs_.end()) *other = from;
    outputs_[output] = target;
  }
}

// The op could not be run again.
void Runtime::give_up_outputs() {
  for (Block*& output : outputs_) {
    if (output != nullptr && !output->lent) free_untold(*output);
    output = nullptr;
  }
  take_back_lent();
}

void Runtime::take_back(Block& lent) {
  memory_.evict(lent, false);
  lent.charge = {};
  lent.lent = false;
}

// Lent for something else than the output it was meant for.
void Runtime::take_back_lent() {
  for (Block* block : lendable_) {
    if (!block->lent || std::ranges::find(outputs_, block) != outputs_.end()) continue;
    take_back(*block);
  }
}

void Runtime::release_freed() {
  ThreadState& thread = this_thread();
  while (!thread.freed.empty()) {
    Block* block = thread.freed.back();
    thread.freed.pop_back();
    release(*block);
  }
}

Pin Runtime::access(Block& block, Access access) {
  Ticket ticket = core_->manager->begin_access(tensor_of(block), access);
  restore(ticket);
  verify(block);
  return core_->manager->end_access(std::move(ticket));
}

// From now on somebody may write to it whenever he likes. What was made from it must not be made
// again, and it stays where it is.
void Runtime::escape(Block& block) {
  if (!core_ || block.escaped.exchange(true)) return;
  ++escapes_;
  block.pin.emplace(access(block, Access::Write));
}

void Runtime::hold(Block& block, bool on) {
  if (!core_) return;
  if (on && !block.held)
    block.held.emplace(access(block, Access::Read));
  else if (!on)
    block.held.reset();
}

bool Runtime::may_fault_at(const void* address) const {
  const Block* block = memory_.find(address);
  return block != nullptr && block->pages != nullptr;
}

bool Runtime::bring_back(void* address) {
  Block* block = memory_.find(address);
  if (block == nullptr || !core_) return false;
  ++faults_;
  block->home.leave();  // somebody knows the address
  Pin pin = access(*block, Access::Read);
  const std::lock_guard lock{pin_mutex_};
  faulted_.push_back(std::move(pin));
  return true;
}

}  // namespace weir::libtorch
