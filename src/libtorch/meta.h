#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

namespace weir::libtorch {

// Recording without memory: tensors have shapes and no bytes, nothing is computed and nothing is
// managed. Python runs the ops (python/weir/_meta.py) and tells of each; here they become blocks
// without pages, whose death PyTorch's allocator for such tensors reports.
void start_meta(const std::string& path);
// Nothing is left of the recording.
void discard_meta();
void step_meta();

// What the recorder does with this operator, as a number of OpKind.
std::int64_t kind_of_op(const std::string& name, const std::string& overload);

// An op that ran. Its tensors, also those in lists, come with the places of their arguments in its
// schema; settings are laid out flat.
struct MetaOp {
  std::string name, overload;
  c10::List<std::optional<at::Tensor>> tensors;
  c10::List<std::int64_t> places;
  c10::List<at::Tensor> results;
  c10::List<std::string> names;
  c10::List<std::int64_t> lengths, values;
};
void note_meta(const MetaOp& op);

}  // namespace weir::libtorch
