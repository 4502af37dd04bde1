#include "libtorch/raw_access.h"

#include "libtorch/fork.h"
#include "libtorch/runtime.h"

namespace weir::libtorch {

namespace {

void asked_for_address(c10::StorageImpl* storage) {
  Runtime& runtime = Runtime::get();
  if (in_forked_child())
    TORCH_CHECK(read_from_parents_tier(storage->_mutable_data_ptr_no_checks().get()),
                kOnlyInParent);
  Block* block = runtime.block_of(*storage);
  if (block == nullptr || !runtime.managing()) return;
  Hook on = Hook::On;
  block->hook.compare_exchange_strong(on, Hook::Called);
  ThreadState& thread = this_thread();
  if (thread.in_op != 0 || thread.replaying) return;
  if (thread.reading != 0)
    thread.read_pins.push_back(runtime.access(*block, Access::Read));
  else
    runtime.escape(*block);
}

bool begin_change(Block& block, Hook before) {
  return before != Hook::Changing && block.hook.compare_exchange_strong(before, Hook::Changing);
}

}  // namespace

// If another thread is at it, the hook is on when its op is over, as after every op. While a kernel
// runs a hook does nothing, so one that stays on is no harm.
void watch(c10::StorageImpl& storage, Block& block) {
  const Hook before = block.hook;
  if (before == Hook::On || !begin_change(block, before)) return;
  const bool free = !storage.has_materializer();
  if (free) storage.set_materializer(&asked_for_address);
  block.hook.store(free ? Hook::On : before, std::memory_order_release);
}

void unwatch(c10::StorageImpl& storage, Block& block) {
  const Hook before = block.hook;
  if (before == Hook::Off || !begin_change(block, before)) return;
  if (before == Hook::On) storage.clear_materializer();
  block.hook.store(Hook::Off, std::memory_order_release);
}

bool watched_by_others(const c10::StorageImpl& storage, Block& block) {
  if (block.hook != Hook::Off || !begin_change(block, Hook::Off)) return false;
  const bool theirs = storage.has_materializer();
  block.hook.store(Hook::Off, std::memory_order_release);
  return theirs;
}

}  // namespace weir::libtorch
