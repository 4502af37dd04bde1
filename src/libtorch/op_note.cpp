#include "libtorch/op_note.h"

#include <array>
#include <string>

#include <c10/core/ScalarType.h>

namespace weir::libtorch {

namespace {

// "float32", as Python prints it.
std::string_view name_of(c10::ScalarType type) {
  static const auto* const names = [] {
    auto* all = new std::array<std::string, static_cast<std::size_t>(c10::ScalarType::NumOptions)>;
    for (std::size_t i = 0; i < all->size(); ++i) {
      const auto scalar = static_cast<c10::ScalarType>(i);
      if (scalar != c10::ScalarType::Undefined) (*all)[i] = c10::getDtypeNames(scalar).first;
    }
    return all;
  }();
  return (*names)[static_cast<std::size_t>(type)];
}

bool has_strides(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == c10::kStrided && !tensor.is_nested();
}

}  // namespace

void OpNote::clear() {
  numbers_.clear();
  arguments_.clear();
  outputs_.clear();
  settings_.clear();
}

OpNote::Tensor OpNote::describe(const at::Tensor& tensor, std::int32_t place) {
  Tensor noted{.dtype = {}, .first = numbers_.size(), .rank = 0, .offset = 0, .place = place};
  if (!has_strides(tensor)) return noted;
  noted.dtype = name_of(tensor.scalar_type());
  noted.rank = tensor.sizes().size();
  noted.offset = tensor.storage_offset();
  numbers_.insert(numbers_.end(), tensor.sizes().begin(), tensor.sizes().end());
  numbers_.insert(numbers_.end(), tensor.strides().begin(), tensor.strides().end());
  return noted;
}

void OpNote::argument(const at::Tensor& tensor, std::int32_t place) {
  arguments_.push_back(describe(tensor, place));
}

void OpNote::no_argument() { arguments_.push_back(describe({}, TraceArgument::kNotInput)); }

void OpNote::output(const at::Tensor& tensor) { outputs_.push_back(describe(tensor, 0)); }

void OpNote::setting(std::string_view name, const c10::IValue& value) {
  Number number{.name = name, .first = numbers_.size(), .values = 0};
  auto add = [&](const c10::IValue& one) {
    if (one.isInt()) numbers_.push_back(one.toInt());
    if (one.isBool()) numbers_.push_back(one.toBool() ? 1 : 0);
  };
  add(value);
  if (value.isList())
    for (const c10::IValue& element : value.toListRef()) add(element);
  number.values = numbers_.size() - number.first;
  if (number.values > 0) settings_.push_back(number);
}

Layout OpNote::layout(const Tensor& tensor) const {
  const std::span<const std::int64_t> numbers{numbers_};
  return {.dtype = tensor.dtype,
          .shape = numbers.subspan(tensor.first, tensor.rank),
          .strides = numbers.subspan(tensor.first + tensor.rank, tensor.rank),
          .offset = tensor.offset};
}

void OpNote::tell(Recorder::Op& op) {
  told_arguments_.clear();
  told_outputs_.clear();
  told_settings_.clear();
  for (const Tensor& noted : arguments_) told_arguments_.push_back({layout(noted), noted.place});
  for (const Tensor& noted : outputs_) told_outputs_.push_back(layout(noted));
  for (const Number& noted : settings_)
    told_settings_.push_back(
        {noted.name, std::span<const std::int64_t>{numbers_}.subspan(noted.first, noted.values)});
  op.arguments = told_arguments_;
  op.output_layouts = told_outputs_;
  op.settings = told_settings_;
}

}  // namespace weir::libtorch
