#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>

namespace weir::libtorch {

// Visits the tensors among some values, also those in lists, in order. Undefined ones count.
template <typename Values, typename Visit>
void for_each_tensor(const Values& values, Visit&& visit) {
  for (const c10::IValue& value : values) {
    if (value.isTensor()) {
      visit(value.toTensor());
    } else if (value.isList()) {
      for (const c10::IValue& element : value.toListRef())
        if (element.isTensor()) visit(element.toTensor());
    }
  }
}

}  // namespace weir::libtorch
