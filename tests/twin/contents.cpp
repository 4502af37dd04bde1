#include "twin/contents.h"

#include "base/rng.h"

namespace weir::twin {

namespace {

// Never what garbage() returns.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return base::Rng{a ^ base::Rng{b}.next()}.next() >> 1;
}

}  // namespace

Contents::Contents(const Trace& trace, const std::vector<Disturbance>& disturbances)
    : trace_{trace},
      disturbances_{disturbances},
      bytes_(trace.storages.size()),
      expected_(trace.ops.size()),
      found_(disturbances.size()) {
  for (std::uint32_t i = 0; i < bytes_.size(); ++i) add_constant(StorageId{i});
  std::size_t next = 0;
  for (std::size_t event = 0; event < trace.events.size(); ++event) {
    for (; next < disturbances.size() && disturbances[next].before == event; ++next) {
      if (disturbances[next].kind != Disturbance::Write) continue;
      found_[next] = bytes_[index(written_by(next))];
      if (!write(next)) return;
    }
    if (trace.events[event].kind == EventKind::Op) run_first(trace.events[event].item);
  }
  for (std::uint64_t& bytes : bytes_) bytes = garbage();
}

void Contents::run_first(std::uint32_t op) {
  expected_[op] = read_by(op);
  change(op, expected_[op]);
  for (const TraceTensor& output : trace_.outputs_of(trace_.ops[op]))
    if (output.alias_of == kFresh)
      bytes_[index(output.storage)] = mix(expected_[op], index(output.storage));
}

void Contents::add_constant(StorageId storage) { bytes_[index(storage)] = mix(1, index(storage)); }

bool Contents::run(std::uint32_t op) {
  read_ = read_by(op);
  change(op, read_);
  return read_ == expected_[op];
}

void Contents::adopt(StorageId storage) { bytes_[index(storage)] = mix(read_, index(storage)); }

void Contents::lose(StorageId storage) { bytes_[index(storage)] = garbage(); }

bool Contents::write(std::size_t disturbance) {
  std::uint64_t& bytes = bytes_[index(written_by(disturbance))];
  const bool right = bytes == found_[disturbance];
  bytes = mix(3, disturbance);
  return right;
}

StorageId Contents::written_by(std::size_t disturbance) const {
  return trace_.tensors[index(disturbances_[disturbance].tensor)].storage;
}

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
