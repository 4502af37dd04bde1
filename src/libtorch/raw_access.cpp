#include "libtorch/raw_access.h"

#include "libtorch/fork.h"
#include "libtorch/runtime.h"

namespace weir::libtorch {

namespace {

void asked_for_address(c10::StorageImpl* storage) {
  Runtime& runtime = Runtime::get();
  void* address = storage->_mutable_data_ptr_no_checks().get();
  if (in_forked_child()) TORCH_CHECK(read_from_parents_tier(address), kOnlyInParent);
  Block* block = runtime.block_at(address);
  if (block == nullptr || !runtime.managing()) return;
  block->armed = false;
  ThreadState& thread = this_thread();
  if (thread.in_op != 0 || thread.replaying) return;
  if (thread.reading != 0)
    thread.read_pins.push_back(runtime.access(*block, Access::Read));
  else
    runtime.escape(*block);
}

}  // namespace

void watch(c10::StorageImpl& storage, Block& block, bool on) {
  if (on == block.armed) return;
  if (on && storage.has_materializer()) return;
  if (on)
    storage.set_materializer(&asked_for_address);
  else
    storage.clear_materializer();
  block.armed = on;
}

}  // namespace weir::libtorch
