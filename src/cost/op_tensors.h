#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "weir/trace.h"

namespace weir::cost {

// A trace may tell any sizes: a product that is beyond all sense stays at this.
inline constexpr std::int64_t kMostWork = std::int64_t{1} << 56;
[[nodiscard]] std::int64_t times(std::int64_t a, std::int64_t b);

[[nodiscard]] std::int64_t elements_of(std::span<const std::int64_t> shape);
// What is touched when all elements are: a dimension of stride 0 repeats the same ones.
[[nodiscard]] Bytes bytes_of(const Layout& layout);

// An op of a trace with what it says of its tensors.
class OpTensors {
 public:
  OpTensors(const Trace& trace, const TraceOp& op) : trace_{trace}, op_{op} {}

  [[nodiscard]] std::size_t arguments() const { return op_.arguments; }
  [[nodiscard]] const TraceArgument& told(std::size_t i) const {
    return trace_.arguments_of(op_)[i];
  }
  // Without a dtype if it is not there.
  [[nodiscard]] Layout argument(std::size_t i) const;
  [[nodiscard]] Layout output(std::size_t i) const;
  [[nodiscard]] std::span<const std::int64_t> shape(std::size_t i) const {
    return argument(i).shape;
  }
  [[nodiscard]] std::int64_t elements(std::size_t i) const;  // of an argument; 0: not there
  [[nodiscard]] std::int64_t most_elements() const;          // of any argument or output
  [[nodiscard]] bool truth(std::string_view setting, std::size_t i, bool otherwise) const;
  [[nodiscard]] std::span<const std::int64_t> setting(std::string_view name) const;
  // Nothing if it is not there, or too small for a trace.
  [[nodiscard]] std::optional<StorageId> storage(std::size_t i) const;
  [[nodiscard]] std::optional<StorageId> output_storage(std::size_t i) const;
  [[nodiscard]] bool mutates(std::int32_t place) const;

 private:
  const Trace& trace_;
  const TraceOp& op_;
};

}  // namespace weir::cost
