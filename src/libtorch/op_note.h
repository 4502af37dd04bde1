#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "libtorch/recorder.h"

namespace weir::libtorch {

// How an op looks upon its tensors, for the recorder. Arguments are noted before it runs, since it
// may change them. Kept between ops, so that noting allocates nothing.
class OpNote {
 public:
  void clear();
  void argument(const at::Tensor& tensor, std::int32_t place);
  void no_argument();  // an optional one that is not given
  void output(const at::Tensor& tensor);
  void setting(std::string_view name, const c10::IValue& value);
  // Adds what was noted; it points to here.
  void tell(Recorder::Op& op);

 private:
  struct Tensor {
    std::string_view dtype;
    std::size_t first, rank;  // in numbers_: shape, then strides
    std::int64_t offset;
    std::int32_t place;
  };
  struct Number {
    std::string_view name;
    std::size_t first, values;  // in numbers_
  };

  Tensor describe(const at::Tensor& tensor, std::int32_t place);
  [[nodiscard]] Layout layout(const Tensor& tensor) const;

  std::vector<std::int64_t> numbers_;
  std::vector<Tensor> arguments_, outputs_;
  std::vector<Number> settings_;
  std::vector<Recorder::Argument> told_arguments_;
  std::vector<Layout> told_outputs_;
  std::vector<trace::Setting> told_settings_;
};

}  // namespace weir::libtorch
