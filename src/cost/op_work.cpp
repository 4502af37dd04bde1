#include "cost/op_work.h"

#include <algorithm>

namespace weir::cost {

OpWork work_of(const Trace& trace, const TraceOp& op) {
  OpWork work;
  const auto touch = [&](StorageId storage, bool write) {
    const bool seen = std::ranges::any_of(work.touches, [&](const Touch& other) {
      return other.storage == storage && other.write == write;
    });
    if (!seen) work.touches.push_back({storage, trace.storages[index(storage)].size, write});
  };
  const bool computes =
      op.mutated > 0 || std::ranges::any_of(trace.outputs_of(op), [](const TraceTensor& output) {
        return output.alias_of == kFresh;
      });
  if (!computes && op.outputs > 0) return work;  // it only makes views
  for (const TensorId input : trace.inputs_of(op))
    touch(trace.tensors[index(input)].storage, false);
  for (const std::uint32_t position : trace.mutated_by(op))
    touch(trace.tensors[index(trace.inputs_of(op)[position])].storage, true);
  for (const TraceTensor& output : trace.outputs_of(op))
    if (output.alias_of == kFresh) touch(output.storage, true);
  return work;
}

}  // namespace weir::cost
