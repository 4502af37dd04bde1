#include "twin/contents.h"

#include "base/rng.h"

namespace weir::twin {

namespace {

// Never what garbage() returns.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return base::Rng{a ^ base::Rng{b}.next()}.next() >> 1;
}

}  // namespace

Contents::Contents(const Trace& trace) : trace_{trace}, bytes_(trace.storages.size()) {
  for (std::uint32_t i = 0; i < bytes_.size(); ++i) add_constant(StorageId{i});
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    expected_.push_back(read_by(op));
    change(op, expected_[op]);
    for (const TraceTensor& output : trace.outputs_of(trace.ops[op]))
      if (output.alias_of == kFresh)
        bytes_[index(output.storage)] = mix(expected_[op], index(output.storage));
  }
  for (std::uint64_t& bytes : bytes_) bytes = garbage();
}

void Contents::add_constant(StorageId storage) { bytes_[index(storage)] = mix(1, index(storage)); }

bool Contents::run(std::uint32_t op, const Graph& graph) {
  const std::uint64_t read = read_by(op);
  change(op, read);
  made_.clear();
  for (const TraceTensor& output : trace_.outputs_of(trace_.ops[op]))
    if (output.alias_of == kFresh && !graph[output.storage].resident())
      made_.push_back({output.storage, mix(read, index(output.storage))});
  return read == expected_[op];
}

void Contents::adopt(const Graph& graph) {
  for (const Made& made : made_)
    if (graph[made.storage].resident()) bytes_[index(made.storage)] = made.bytes;
  made_.clear();
}

void Contents::lose(StorageId storage) { bytes_[index(storage)] = garbage(); }

std::uint64_t Contents::read_by(std::uint32_t op) const {
  std::uint64_t read = mix(2, op);
  for (TensorId input : trace_.inputs_of(trace_.ops[op]))
    read = mix(read, bytes_[index(trace_.tensors[index(input)].storage)]);
  return read;
}

void Contents::change(std::uint32_t op, std::uint64_t read) {
  for (std::uint32_t position : trace_.mutated_by(trace_.ops[op])) {
    const TensorId input = trace_.inputs_of(trace_.ops[op])[position];
    const StorageId changed = trace_.tensors[index(input)].storage;
    bytes_[index(changed)] = mix(read, index(changed));
  }
}

}  // namespace weir::twin
