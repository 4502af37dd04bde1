#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "weir/trace.h"
#include "weir/types.h"

namespace weir::twin {

// Nothing in the naive twin includes weir/graph.h, manager.h or policy.h, or anything below src/.

enum class Where : char {
  Pending = 'P',
  Resident = 'R',
  Evicted = 'E',
  Offloaded = 'O',
  Dead = 'D'
};

struct NaiveStorage {
  Where where = Where::Pending;
  Bytes size = {};
  Nanos last_use = {};
  std::uint32_t pins = 0, references = 0, version = 0;
  bool backed = false;    // the tier has a copy
  bool homeless = false;  // the tier had no room for it
  TensorId root{};
  std::vector<std::uint32_t> recipe = {};  // ops of the trace, in the order in which they must run
  std::size_t done = 0;                    // of them, those that have run since it became resident
};

// The tier, if there is one.
struct NaiveTier {
  bool there = false;
  Bytes capacity = {};
  Nanos latency = {}, per_byte = {};

  [[nodiscard]] Nanos transfer(Bytes size) const { return {latency.n + size.n * per_byte.n}; }
};

// Storages and who is made from whom, as plain lists.
class NaiveGraph {
 public:
  NaiveGraph(const Trace& chosen, const NaiveTier& tier);

  const Trace& trace;
  const NaiveTier tier;
  std::vector<NaiveStorage> storages;  // declared so far

  [[nodiscard]] NaiveStorage& operator[](StorageId id) { return storages[index(id)]; }
  [[nodiscard]] const NaiveStorage& operator[](StorageId id) const { return storages[index(id)]; }
  [[nodiscard]] StorageId storage_of(TensorId tensor) const {
    return trace.tensors[index(tensor)].storage;
  }
  [[nodiscard]] std::uint32_t op_of(TensorId tensor) const { return makers_[index(tensor)]; }
  [[nodiscard]] std::span<const TensorId> inputs_of(std::uint32_t op) const {
    return trace.inputs_of(trace.ops[op]);
  }
  [[nodiscard]] std::vector<TensorId> outputs_of(std::uint32_t op) const;

  [[nodiscard]] bool resident(StorageId id) const { return (*this)[id].where == Where::Resident; }
  // Its bytes are not there, but could be some time.
  [[nodiscard]] bool away(StorageId id) const;
  // Of its recipe, or of the way through the tier.
  [[nodiscard]] Nanos cost(StorageId id) const;
  // Newest first.
  [[nodiscard]] std::vector<StorageId> deps(StorageId id) const;
  [[nodiscard]] std::vector<StorageId> dependents(StorageId id) const;

  void extend(StorageId id, std::uint32_t op);
  void forget(StorageId id);

 private:
  struct Edge {
    StorageId dep, dependent;
    bool operator==(const Edge&) const = default;
  };
  std::vector<std::uint32_t> makers_;  // by tensor: the op it is an output of
  std::vector<Edge> edges_;            // in the order in which they came up
};

}  // namespace weir::twin
