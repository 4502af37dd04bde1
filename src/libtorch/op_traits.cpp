#include "libtorch/op_traits.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace weir::libtorch {

namespace {

// Kernels that write more than their schema says, if they are training.
struct Liar {
  std::string_view name;
  std::int16_t training;
  std::vector<std::uint8_t> written;  // arguments
};
const std::vector<Liar>& liars() {
  static const std::vector<Liar> table = {
      {"aten::native_batch_norm", 5, {3, 4}},
      {"aten::cudnn_batch_norm", 5, {3, 4}},
      {"aten::miopen_batch_norm", 5, {3, 4}},
  };
  return table;
}

// Kernels that are not the same twice even in stock PyTorch, and such whose result depends on more
// than their arguments.
constexpr std::string_view kNeverAgain[] = {
    "aten::index_put_",
    "aten::index_put",
    "aten::_index_put_impl_",
    "aten::_unsafe_index_put",
    "aten::put_",
    "aten::put",
    "aten::resize_",
    "aten::resize_as_",
    "aten::_resize_output_",
    "aten::set_",
    "aten::_lazy_clone",
    "aten::record_stream",
    "aten::lift_fresh",
    "aten::_local_scalar_dense",
    "aten::copy_from",
    "aten::set_data",
    "aten::_pin_memory",
    "aten::is_pinned",
};

// Lists in, lists out, one tensor after the other: a kernel that takes them all at once would have
// to have them all at once.
constexpr std::string_view kFused[] = {
    "aten::_fused_adam_",
    "aten::_fused_adamw_",
    "aten::_fused_sgd_",
    "aten::_fused_adagrad_",
};

// The first argument is a pattern: only its shape counts.
constexpr std::string_view kLike[] = {
    "aten::empty_like", "aten::zeros_like", "aten::ones_like",    "aten::full_like",
    "aten::rand_like",  "aten::randn_like", "aten::randint_like", "aten::new_empty",
    "aten::new_zeros",  "aten::new_ones",   "aten::new_full",     "aten::new_empty_strided",
};

// Arguments that are no tensors, but decide how much an op computes: by name, since they are called
// so wherever they occur.
constexpr std::string_view kTold[] = {"stride", "transposed", "groups", "output_mask",
                                      "kernel_size"};

template <typename Table>
bool in(const Table& table, std::string_view name) {
  return std::ranges::find(table, name) != std::end(table);
}

bool is_ours(std::string_view name) { return name.starts_with("weir::"); }

// Namespaces whose kernels are PyTorch's own.
bool is_trusted(std::string_view name) {
  return name.starts_with("aten::") || name.starts_with("prims::") ||
         name.starts_with("mkldnn::") || name.starts_with("mkl::") ||
         name.starts_with("quantized::") || name.starts_with("_quantized::");
}

bool is_tensor_like(const c10::TypePtr& type) {
  if (type->isSubtypeOf(*c10::TensorType::get())) return true;
  if (const auto optional = type->cast<c10::OptionalType>())
    return is_tensor_like(optional->getElementType());
  if (const auto list = type->cast<c10::ListType>()) return is_tensor_like(list->getElementType());
  return false;
}

bool is_generator(const c10::TypePtr& type) {
  if (type->kind() == c10::TypeKind::GeneratorType) return true;
  if (const auto optional = type->cast<c10::OptionalType>())
    return is_generator(optional->getElementType());
  return false;
}

// Arguments that we could not give to the op a second time.
bool can_be_kept(const c10::TypePtr& type) {
  switch (type->kind()) {
    case c10::TypeKind::ClassType:
    case c10::TypeKind::StorageType:
    case c10::TypeKind::StreamObjType:
    case c10::TypeKind::CapsuleType:
    case c10::TypeKind::PyObjectType:
    case c10::TypeKind::AnyType:
    case c10::TypeKind::RRefType:
    case c10::TypeKind::FutureType:
      return false;
    case c10::TypeKind::OptionalType:
      return can_be_kept(type->castRaw<c10::OptionalType>()->getElementType());
    case c10::TypeKind::ListType:
      return can_be_kept(type->castRaw<c10::ListType>()->getElementType());
    default:
      return true;
  }
}

// All it returns are views of what it is given, and it writes nothing.
bool only_views(const c10::FunctionSchema& schema) {
  if (schema.returns().empty()) return false;
  for (const c10::Argument& argument : schema.arguments())
    if (argument.alias_info() != nullptr && argument.alias_info()->isWrite()) return false;
  return std::ranges::all_of(schema.returns(), [](const c10::Argument& returned) {
    return returned.alias_info() != nullptr && !returned.alias_info()->isWrite();
  });
}

// No tensor comes out and none is written: it asks for a shape, a flag.
bool only_asks(const c10::OperatorHandle& op) {
  const std::string& name = op.schema().name();
  return name == "aten::sym_size" || name == "aten::sym_stride" || name == "aten::sym_numel" ||
         name == "aten::sym_storage_offset" || name == "aten::is_same_size" ||
         name == "aten::_version" || name == "aten::_has_compatible_shallow_copy_type" ||
         name == "aten::sym_is_contiguous" || name == "aten::_is_zerotensor";
}

OpKind kind_of(const c10::OperatorHandle& op) {
  const std::string_view name = op.schema().name();
  if (is_ours(name)) return OpKind::Metadata;
  const bool resizes =
      name == "aten::resize_" || name == "aten::resize_as_" || name == "aten::_resize_output_";
  if (op.hasTag(at::Tag::inplace_view) && !resizes) return OpKind::Metadata;
  if (only_asks(op)) return OpKind::Metadata;
  if (op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
      !op.hasKernelForDispatchKey(c10::DispatchKey::CPU))
    return OpKind::Decomposes;
  if (name == "aten::lift_fresh") return OpKind::Computes;
  if (only_views(op.schema())) return OpKind::Metadata;
  if (in(kFused, name)) return OpKind::Splits;
  if (name.starts_with("aten::_foreach_")) return OpKind::Decomposes;
  return OpKind::Computes;
}

bool is_recomputable(const c10::OperatorHandle& op, const OpTraits& traits) {
  const c10::FunctionSchema& schema = op.schema();
  if (!traits.trusted || in(kNeverAgain, schema.name())) return false;
  if (op.hasTag(at::Tag::nondeterministic_seeded) && traits.generator < 0) return false;
  for (const c10::Argument& argument : schema.arguments())
    if (!can_be_kept(argument.type())) return false;
  for (const c10::Argument& returned : schema.returns())
    if (!is_tensor_like(returned.type())) return false;
  return true;
}

std::uint64_t number_of(const c10::FunctionSchema& schema) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string& part : {schema.name(), schema.overload_name()})
    for (char letter : part + '.')
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash;
}

OpTraits make_traits(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  const std::vector<c10::Argument>& arguments = schema.arguments();
  OpTraits traits;
  traits.op = op;
  traits.number = number_of(schema);
  traits.mutated.resize(arguments.size());
  traits.secret.resize(arguments.size());
  traits.shape_only.resize(arguments.size());
  traits.tensors.resize(arguments.size());
  traits.told.resize(arguments.size());
  traits.trusted = is_trusted(schema.name());
  traits.introduces = schema.name() == "aten::lift_fresh";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::AliasInfo* alias = arguments[i].alias_info();
    traits.mutated[i] = alias != nullptr && alias->isWrite();
    traits.tensors[i] = is_tensor_like(arguments[i].type());
    traits.told[i] = in(kTold, std::string_view{arguments[i].name()});
    if (is_generator(arguments[i].type())) traits.generator = static_cast<std::int16_t>(i);
  }
  if (in(kLike, schema.name())) traits.shape_only[0] = true;
  for (const Liar& liar : liars()) {
    if (liar.name != schema.name()) continue;
    traits.training = liar.training;
    for (std::uint8_t written : liar.written) traits.secret[written] = true;
  }
  traits.kind = kind_of(op);
  traits.recomputable = is_recomputable(op, traits);
  return traits;
}

}  // namespace

const OpTraits& traits_of(const c10::OperatorHandle& op) {
  // A schema has a fixed address as long as its operator is registered; ours are never destroyed.
  struct Known {
    const c10::FunctionSchema* schema = nullptr;
    const OpTraits* traits = nullptr;
  };
  constexpr std::size_t kWays = 512;
  static thread_local const auto recent = std::make_unique<Known[]>(kWays);
  static std::mutex mutex;
  static auto& all = *new std::unordered_map<const void*, std::unique_ptr<OpTraits>>;

  const c10::FunctionSchema* schema = &op.schema();
  Known& known = recent[(reinterpret_cast<std::uintptr_t>(schema) >> 6) % kWays];
  if (known.schema == schema) return *known.traits;
  const std::lock_guard lock{mutex};
  std::unique_ptr<OpTraits>& made = all[schema];
  if (!made) made = std::make_unique<OpTraits>(make_traits(op));
  known = {schema, made.get()};
  return *made;
}

}  // namespace weir::libtorch
