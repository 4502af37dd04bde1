#include "libtorch/home.h"

#include <c10/core/StorageImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <cstring>
#include <thread>

#include "libtorch/runtime.h"

namespace weir::libtorch {

namespace {

void free_block(void* block) { Runtime::get().free(*static_cast<Block*>(block)); }

// In the place of a storage while a thread is at it.
c10::StorageImpl* busy() { return reinterpret_cast<c10::StorageImpl*>(alignof(void*)); }

// PyTorch has no call that changes the address alone. Replacing the whole DataPtr would let a
// thread that frees the storage meanwhile find neither the old block nor the new one. The address
// is the first word; that it is was tried when the library was loaded.
void set_address(c10::DataPtr& data, std::byte* address) {
  std::atomic_ref<void*>{*reinterpret_cast<void**>(&data)}.store(address,
                                                                 std::memory_order_release);
}

[[maybe_unused]] const bool first_word_is_the_address = [] {
  std::byte bytes[2];
  int context = 0;
  c10::DataPtr data{&bytes[0], &context, [](void*) {}, c10::Device(c10::kCPU)};
  set_address(data, &bytes[1]);
  TORCH_CHECK(data.get() == &bytes[1] && data.get_context() == &context,
              "weir: this PyTorch keeps the address of a storage elsewhere; rebuild Weir for it");
  return true;
}();

}  // namespace

Block* block_at_home(const c10::DataPtr& data) {
  return data.get_deleter() == &free_block ? static_cast<Block*>(data.get_context()) : nullptr;
}

void Home::move_in(c10::StorageImpl& storage, Block& block) {
  c10::DataPtr& data = storage._mutable_data_ptr_no_checks();
  if (data.get() != block.address || data.get() != data.get_context()) return;
  data.release_context();
  data = {block.address, &block, &free_block, data.device()};
  leave();
  storage_.store(c10::raw::intrusive_ptr::make_weak(&storage), std::memory_order_release);
}

c10::StorageImpl* Home::claim() {
  for (;;) {
    c10::StorageImpl* storage = storage_.exchange(busy(), std::memory_order_acq_rel);
    if (storage != busy()) return storage;
    std::this_thread::yield();
  }
}

bool Home::point(const Block& block, std::byte* address) {
  if (!known()) return false;
  c10::StorageImpl* storage = claim();
  bool ours = false;
  if (storage != nullptr) {
    c10::DataPtr& data = storage->_mutable_data_ptr_no_checks();
    ours = block_at_home(data) == &block;
    if (ours) set_address(data, address);
  }
  storage_.store(storage, std::memory_order_release);
  return ours;
}

void Home::leave() {
  if (!known()) return;
  c10::StorageImpl* storage = claim();
  storage_.store(nullptr, std::memory_order_release);
  if (storage != nullptr) c10::weak_intrusive_ptr<c10::StorageImpl>::reclaim(storage);
}

}  // namespace weir::libtorch
