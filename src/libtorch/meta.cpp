#include "libtorch/meta.h"

#include <algorithm>

#include <c10/core/Allocator.h>

#include "libtorch/launch.h"
#include "libtorch/op_note.h"
#include "libtorch/op_traits.h"
#include "libtorch/runtime.h"

namespace weir::libtorch {

namespace {

constexpr std::int64_t kPage = 4096;

// As the runtime would charge it: whole pages, and nothing for what is small.
Bytes charged(std::size_t size) {
  const auto bytes = static_cast<std::int64_t>(size);
  return {bytes < RunOptions{}.smallest.n ? 0 : (bytes + kPage - 1) / kPage * kPage};
}

void forget(void* context) {
  auto* block = static_cast<Block*>(context);
  Runtime::get().recorder().release(*block);
  delete block;
}

// A storage without bytes still has an owner: its block, which dies with it.
class MetaAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    auto* block = new Block;
    block->size = charged(size);
    return {nullptr, block, &forget, c10::Device(c10::kMeta)};
  }
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* /*to*/, const void* /*from*/, std::size_t /*size*/) const override {}
};

// Null: too small to be known, or made before the recording began.
Block* block_of(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.unsafeGetTensorImpl()->has_storage()) return nullptr;
  c10::StorageImpl* storage = tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
  if (storage->nbytes() <= kTiny) return nullptr;
  const c10::DataPtr& data = storage->_mutable_data_ptr_no_checks();
  return data.get_deleter() == &forget ? static_cast<Block*>(data.get_context()) : nullptr;
}

const OpTraits& traits_of(const std::string& name, const std::string& overload) {
  return libtorch::traits_of(c10::Dispatcher::singleton().findSchemaOrThrow(
      name.c_str(), overload == "default" ? "" : overload.c_str()));
}

class Noting {
 public:
  Noting(const MetaOp& op, const OpTraits& traits) : op_{op}, traits_{traits} {}

  void tell() {
    for (std::size_t i = 0; i < op_.tensors.size(); ++i)
      take(op_.tensors.get(i), static_cast<std::size_t>(op_.places.get(i)));
    for (const at::Tensor& result : op_.results) give(result);
    take_settings();
    Recorder::Op op{.name = traits_.op->schema().name(),
                    .cost = {},
                    .scratch = {},
                    .inputs = inputs_,
                    .mutated = mutated_,
                    .outputs = outputs_,
                    .recomputable = traits_.recomputable,
                    .phase = current_phase()};
    if (inputs_.empty() && outputs_.empty()) return;  // as the runtime: nobody would hear of it
    note_.tell(op);
    Runtime::get().recorder().op(op);
  }

 private:
  void take(const std::optional<at::Tensor>& tensor, std::size_t argument) {
    if (!tensor || !tensor->defined()) return note_.no_argument();
    Block* block = block_of(*tensor);
    const bool read = block != nullptr && !traits_.shape_only[argument] &&
                      !(traits_.secret[argument] && traits_.training >= 0);
    note_.argument(*tensor,
                   read ? static_cast<std::int32_t>(inputs_.size()) : TraceArgument::kNotInput);
    if (!read) return;
    if (traits_.mutated[argument]) mutated_.push_back(static_cast<std::uint32_t>(inputs_.size()));
    inputs_.push_back(block);
  }

  void give(const at::Tensor& result) {
    Block* block = block_of(result);
    if (block == nullptr || block->numbered) return;
    if (std::ranges::find(inputs_, block) != inputs_.end()) return;
    if (std::ranges::find(outputs_, block) != outputs_.end()) return;
    outputs_.push_back(block);
    note_.output(result);
  }

  void take_settings() {
    std::size_t first = 0;
    for (std::size_t i = 0; i < op_.names.size(); ++i) {
      c10::List<std::int64_t> values;
      for (std::int64_t k = 0; k < op_.lengths.get(i); ++k)
        values.push_back(op_.values.get(first++));
      names_.push_back(op_.names.get(i));
      settings_.push_back(std::move(values));
    }
    for (std::size_t i = 0; i < names_.size(); ++i) note_.setting(names_[i], settings_[i]);
  }

  const MetaOp& op_;
  const OpTraits& traits_;
  OpNote note_;
  std::vector<Block*> inputs_, outputs_;
  std::vector<std::uint32_t> mutated_;
  std::vector<std::string> names_;
  std::vector<c10::List<std::int64_t>> settings_;
};

}  // namespace

void start_meta(const std::string& path) {
  static auto* const allocator = [] {
    auto* ours = new MetaAllocator;  // never destroyed: tensors may outlive us
    constexpr std::uint8_t kAboveAll = 200;
    c10::SetAllocator(c10::kMeta, ours, kAboveAll);
    return ours;
  }();
  static_cast<void>(allocator);
  Runtime::get().recorder().start_without_costs(path);
}

void discard_meta() { Runtime::get().recorder().discard(); }

void step_meta() { Runtime::get().recorder().step(); }

std::int64_t kind_of_op(const std::string& name, const std::string& overload) {
  return static_cast<std::int64_t>(traits_of(name, overload).kind);
}

void note_meta(const MetaOp& op) {
  if (Runtime::get().recorder().on()) Noting{op, traits_of(op.name, op.overload)}.tell();
}

}  // namespace weir::libtorch
