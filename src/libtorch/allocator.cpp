#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include "libtorch/runtime.h"

namespace weir::libtorch {

namespace {

void free_memory(void* address) { Runtime::get().free(address); }

// PyTorch's CPU allocator. The context of what it returns is the address itself, as oneDNN and
// copy-on-write want it.
class Allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    void* address = Runtime::get().allocate(size);
    return {address, address, &free_memory, c10::Device(c10::kCPU)};
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &free_memory; }
  // Copy on write may share what has a home: its block is freed by the last one who lets go of it.
  [[nodiscard]] bool is_simple_data_ptr(const c10::DataPtr& data) const override {
    return data.get() == data.get_context() || block_at_home(data) != nullptr;
  }
  void copy_data(void* to, const void* from, std::size_t size) const override {
    default_copy_data(to, from, size);
  }
};

constexpr std::uint8_t kAboveAll = 200;

[[maybe_unused]] const bool installed = [] {
  c10::SetAllocator(c10::kCPU, new Allocator, kAboveAll);
  return true;
}();

}  // namespace

}  // namespace weir::libtorch
