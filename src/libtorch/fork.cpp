#include "libtorch/fork.h"

#include <pthread.h>

#include <span>
#include <unordered_map>

#include "libtorch/faults.h"
#include "libtorch/flatten.h"
#include "libtorch/runtime.h"

namespace weir::libtorch {

namespace {

// What a child has from its parent. Never destroyed.
struct Inherited {
  pages::Arena* arena;
  Tier* tier;
  std::mutex mutex;
  std::unordered_map<const Block*, Slot> copies;  // of blocks whose bytes were away
};
Inherited* inherited = nullptr;

}  // namespace

// What does not fit stays where it is: the child is told so if it reads that.
void Runtime::back_up_for_child() {
  const ThreadState& thread = this_thread();
  if (!active_ || !core_ || !core_->tier || thread.in_op != 0 || thread.replaying) return;
  Manager& manager = *core_->manager;
  manager.settle();
  for (TensorId tensor : manager.retain_evicted()) {
    try {
      Ticket ticket = manager.begin_access(tensor);
      restore(ticket);
      const Pin pin = manager.end_access(std::move(ticket));
      manager.back_up(pin);
    } catch (const c10::OutOfMemoryError&) {
    } catch (const TierError&) {
    }
    manager.release(tensor);
  }
}

// In the order in which the runtime takes them. So no thread is inside any of these when the child
// gets its copy.
void Runtime::before_fork() {
  restoring_.lock();
  foreign_mutex_.lock();
  tell_mutex_.lock();
  pin_mutex_.lock();
  if (core_) core_->manager->lock();
  if (core_ && core_->tier) core_->tier->drain();
  chunk_mutex_.lock();
  recorder_.lock();
  recipes_.lock();
  memory_.lock();
}

void Runtime::after_fork_in_parent() {
  memory_.unlock();
  recipes_.unlock();
  recorder_.unlock();
  chunk_mutex_.unlock();
  if (core_) core_->manager->unlock();
  pin_mutex_.unlock();
  tell_mutex_.unlock();
  foreign_mutex_.unlock();
  restoring_.unlock();
}

// The manager stays as it is, since charges refer to it, but nobody tells it anything any more.
void Runtime::after_fork_in_child() {
  after_fork_in_parent();
  this_thread().read_pins.clear();
  recorder_.abandon();
  if (!core_) return;
  active_ = false;
  inherited = new Inherited{&memory_.arena(), core_->tier.get(), {}, {}};
  faulted_.clear();
  std::vector<Block*> ghosts;
  memory_.for_each([&](Block& block) {
    if (!block.program()) ghosts.push_back(&block);
    if (const auto copy = copies_.find(block.storage); !block.resident() && copy != copies_.end())
      inherited->copies.emplace(&block, copy->second.slot);
    block.pin.reset();
    block.held.reset();
    block.tensor = kUntold;
  });
  for (Block* ghost : ghosts) memory_.free(*ghost);
  static_cast<void>(core_.release());
  memory_.arena().set_cap(kMostBytes);
  memory_.arena().give_back_free();
}

bool in_forked_child() { return inherited != nullptr; }

bool read_from_parents_tier(void* address) {
  if (inherited == nullptr) return false;
  Block* block = Runtime::get().block_at(address);
  if (block == nullptr || block->pages == nullptr) return true;
  const std::lock_guard lock{inherited->mutex};
  if (block->resident()) return true;
  const auto copy = inherited->copies.find(block);
  if (copy == inherited->copies.end()) return false;
  const Slot slot = copy->second;
  inherited->arena->restore(*block->pages);
  try {
    inherited->tier->read(slot, {block->address, static_cast<std::size_t>(slot.size.n)}).wait();
  } catch (const TierError&) {
    inherited->arena->evict(*block->pages);
    return false;
  }
  block->come_back();
  return true;
}

void read_arguments(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  stay_in_front();
  for_each_tensor(
      std::span{stack}.last(op.schema().arguments().size()), [](const at::Tensor& tensor) {
        if (!tensor.defined() || !tensor.has_storage()) return;
        c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
        TORCH_CHECK(read_from_parents_tier(storage->_mutable_data_ptr_no_checks().get()),
                    kOnlyInParent);
      });
}

void follow_forks() {
  static const bool once = [] {
    pthread_atfork(
        [] {
          Runtime::get().back_up_for_child();
          Runtime::get().before_fork();
        },
        [] { Runtime::get().after_fork_in_parent(); },
        [] { Runtime::get().after_fork_in_child(); });
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace weir::libtorch
