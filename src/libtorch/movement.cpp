// Which storages may get another address, and when. Whoever asks a storage for an address to write
// to is seen (raw_access.cpp) and has it pinned. Who asks for one to read from is not, so nothing
// moves while somebody may be about who keeps such an address from one op to the next.
#include <ATen/Parallel.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "libtorch/key.h"
#include "libtorch/runtime.h"

namespace weir::libtorch {

Block* Runtime::block_of(c10::StorageImpl& storage) {
  const c10::DataPtr& data = storage._mutable_data_ptr_no_checks();
  Block* at_home = block_at_home(data);
  return at_home != nullptr ? at_home : memory_.find_or_make(data.get());
}

void Runtime::give_home(Block& block, c10::StorageImpl& storage) {
  if (moving_.load(std::memory_order_relaxed) && block.pages != nullptr)
    block.home.move_in(storage, block);
}

// What goes for the sake of somebody else than an op that we launch stays at its address.
bool Runtime::addresses_move() const {
  const ThreadState& thread = this_thread();
  return moving_.load(std::memory_order_relaxed) && (thread.launching != 0 || thread.replaying) &&
         steps_.load(std::memory_order_relaxed) >= still_until_.load(std::memory_order_relaxed);
}

void Runtime::look_for_companions() {
  moving_ = options_.addresses == Addresses::Move ||
            (options_.addresses == Addresses::Auto && companions_.find().empty());
}

// A thread that is not followed allocates: it runs ops we do not see, and may be reading anything.
void Runtime::beware_of_strangers() {
  if (!moving_.load(std::memory_order_relaxed) || this_thread().launching != 0 ||
      c10::impl::tls_is_dispatch_key_included(kKey) || at::in_parallel_region())
    return;
  still_until_ = steps_.load() + 2;
}

}  // namespace weir::libtorch
