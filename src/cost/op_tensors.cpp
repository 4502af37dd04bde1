#include "cost/op_tensors.h"

#include <algorithm>

#include "cost/element.h"

namespace weir::cost {

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return kMostWork;
  return std::min(product, kMostWork);
}

std::int64_t elements_of(std::span<const std::int64_t> shape) {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  std::int64_t product = 1;
  for (std::int64_t size : shape) product = times(product, size);
  return product;
}

Bytes bytes_of(const Layout& layout) {
  std::int64_t distinct = element_bytes(layout.dtype);
  for (std::size_t i = 0; i < layout.shape.size(); ++i) {
    const std::int64_t size = layout.strides[i] == 0 && layout.shape[i] > 0 ? 1 : layout.shape[i];
    distinct = times(distinct, size);
  }
  return {elements_of(layout.shape) == 0 ? 0 : std::min(distinct, kMostBytes.n)};
}

Layout OpTensors::argument(std::size_t i) const {
  if (i >= op_.arguments) return {};
  return trace_.layout_of(trace_.layouts[told(i).layout]);
}

Layout OpTensors::output(std::size_t i) const {
  if (i >= op_.outputs) return {};
  return trace_.layout_of(trace_.outputs_of(op_)[i]);
}

std::optional<StorageId> OpTensors::storage(std::size_t i) const {
  if (i >= op_.arguments || told(i).place < 0) return std::nullopt;
  const TensorId tensor = trace_.inputs_of(op_)[static_cast<std::size_t>(told(i).place)];
  return trace_.tensors[index(tensor)].storage;
}

std::optional<StorageId> OpTensors::output_storage(std::size_t i) const {
  if (i >= op_.outputs) return std::nullopt;
  return trace_.outputs_of(op_)[i].storage;
}

std::int64_t OpTensors::elements(std::size_t i) const {
  const Layout layout = argument(i);
  return layout.dtype.empty() ? 0 : elements_of(layout.shape);
}

std::int64_t OpTensors::most_elements() const {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < op_.arguments; ++i) most = std::max(most, elements(i));
  for (std::size_t i = 0; i < op_.outputs; ++i)
    if (const Layout layout = output(i); !layout.dtype.empty())
      most = std::max(most, elements_of(layout.shape));
  return most;
}

std::span<const std::int64_t> OpTensors::setting(std::string_view name) const {
  for (const TraceSetting& setting : trace_.settings_of(op_))
    if (trace_.names[setting.name] == name) return trace_.values_of(setting);
  return {};
}

bool OpTensors::truth(std::string_view name, std::size_t i, bool otherwise) const {
  const auto values = setting(name);
  return i < values.size() ? values[i] != 0 : otherwise;
}

bool OpTensors::mutates(std::int32_t place) const {
  return place >= 0 &&
         std::ranges::find(trace_.mutated_by(op_), static_cast<std::uint32_t>(place)) !=
             trace_.mutated_by(op_).end();
}

}  // namespace weir::cost
