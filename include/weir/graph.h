#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weir/trace.h"
#include "weir/types.h"

namespace weir {

enum class Residency : std::uint8_t {
  Pending,   // declared; its first op has not finished
  Resident,  // its bytes are on the device
  Evicted,   // no bytes anywhere; recompute brings it back
  Dead,      // nothing can need it any more
};

// Where the manager looks for something to reclaim.
enum class Place : std::uint8_t {
  None,       // cannot be reclaimed now: not resident, pinned, stuck, or only half restored
  Candidate,  // a policy may choose it
  Spent,      // goes before any candidate: nothing is known that will want it
};

[[nodiscard]] bool may_become(Residency from, Residency to);

// The unit of memory: bytes that live and go together; several tensors may share it.
struct Storage {
  Bytes size;
  Nanos cost;                    // of running its recipe again
  TensorId root{};               // the tensor whose op creates the bytes
  Nanos last_use;                // when an op was last queued that reads it
  std::uint32_t pins = 0;        // kept resident while above zero
  std::uint32_t references = 0;  // of the program, over all its tensors
  std::uint32_t version = 0;     // how often it was changed in place
  std::uint32_t evictions = 0;   // tensors made before the last one are undefined (ViewRule::Rerun)
  std::uint32_t progress = 0;    // recipe entries that have run since it became resident
  std::uint32_t awaited = 0;     // ops about to run, for the first time or again, that read it
  std::uint32_t slot = UINT32_MAX;  // among the storages of its place
  Place place = Place::None;

  [[nodiscard]] Residency where() const { return where_; }
  [[nodiscard]] bool resident() const { return where_ == Residency::Resident; }
  [[nodiscard]] bool has_recipe() const { return recipe_length_ != 0; }
  // All of its recipe has run: its bytes are those the program knows.
  [[nodiscard]] bool complete() const { return progress >= recipe_length_; }

  void move_to(Residency next);

 private:
  friend class Graph;

  Residency where_ = Residency::Pending;
  std::uint32_t first_recipe_ = 0, recipe_length_ = 0;
  std::uint32_t first_dep_ = UINT32_MAX, first_dependent_ = UINT32_MAX;
};

// A view onto a storage, and the op output it is.
struct Tensor {
  StorageId storage;
  OpId op;
  bool fresh;                             // it owns the storage: its op creates the bytes
  std::uint32_t references = 0;           // of the program
  std::uint32_t defined_at = UINT32_MAX;  // storage.evictions when its op last ran
};

// What is needed to run one operator again.
struct OpRecord {
  OpId id;
  std::uint64_t tag;  // the executor's own: what to call
  Nanos cost{};
  bool pure;  // running it again gives the same bytes and changes nothing else
  std::uint32_t first_input, inputs;
  TensorId first_output;
  std::uint32_t outputs = 0;
};

// Storages, tensors and op records with their edges. An edge goes from a storage to each storage
// whose recipe reads it: `deps(s)` is what s is made from, `dependents(s)` what is made from s.
class Graph {
  struct Edge {
    StorageId dep, dependent;
    std::uint32_t next_dep, next_dependent, previous_dependent;
  };

 public:
  class Neighbours;

  StorageId add_storage(Bytes size);
  OpId add_op(std::uint64_t tag, bool pure, std::span<const TensorId> inputs);
  // Before the op enters any recipe.
  void set_cost(OpId op, Nanos cost) { ops_[index(op)].cost = cost; }
  // Outputs of one op are added directly after each other.
  TensorId add_output(OpId op, StorageId storage, bool fresh);

  // The recipe grows by `op`, which created, viewed or changed the storage.
  void extend_recipe(StorageId storage, OpId op);
  // Nothing can bring the storage back any more; it no longer depends on anything.
  void forget_recipe(StorageId storage);

  [[nodiscard]] Storage& operator[](StorageId id) { return storages_[index(id)]; }
  [[nodiscard]] const Storage& operator[](StorageId id) const { return storages_[index(id)]; }
  [[nodiscard]] Tensor& operator[](TensorId id) { return tensors_[index(id)]; }
  [[nodiscard]] const Tensor& operator[](TensorId id) const { return tensors_[index(id)]; }
  [[nodiscard]] const OpRecord& operator[](OpId id) const { return ops_[index(id)]; }

  [[nodiscard]] std::size_t storages() const { return storages_.size(); }
  [[nodiscard]] std::size_t tensors() const { return tensors_.size(); }
  [[nodiscard]] std::size_t ops() const { return ops_.size(); }
  [[nodiscard]] std::span<const TensorId> inputs(const OpRecord& op) const {
    return std::span(inputs_).subspan(op.first_input, op.inputs);
  }
  // The version each input's storage had when the op was added.
  [[nodiscard]] std::span<const std::uint32_t> versions(const OpRecord& op) const {
    return std::span(versions_).subspan(op.first_input, op.inputs);
  }
  [[nodiscard]] std::span<const OpId> recipe(StorageId id) const {
    const Storage& s = (*this)[id];
    return std::span(recipes_).subspan(s.first_recipe_, s.recipe_length_);
  }
  [[nodiscard]] Neighbours deps(StorageId id) const;
  [[nodiscard]] Neighbours dependents(StorageId id) const;

  void reserve(std::size_t tensors, std::size_t ops);

 private:
  void add_edge(StorageId dep, StorageId dependent);

  std::vector<Storage> storages_;
  std::vector<Tensor> tensors_;
  std::vector<OpRecord> ops_;
  std::vector<TensorId> inputs_;
  std::vector<std::uint32_t> versions_;
  std::vector<OpId> recipes_;
  std::vector<Edge> edges_;
  std::uint32_t free_edge_ = UINT32_MAX;
};

// A range over the storages at the other end of one storage's edges.
class Graph::Neighbours {
 public:
  class Iterator {
   public:
    Iterator(const Edge* edges, std::uint32_t at, bool up) : edges_{edges}, at_{at}, up_{up} {}
    StorageId operator*() const { return up_ ? edges_[at_].dep : edges_[at_].dependent; }
    Iterator& operator++() {
      at_ = up_ ? edges_[at_].next_dep : edges_[at_].next_dependent;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const Edge* edges_;
    std::uint32_t at_;
    bool up_;
  };

  [[nodiscard]] Iterator begin() const { return {edges_, first_, up_}; }
  [[nodiscard]] Iterator end() const { return {edges_, UINT32_MAX, up_}; }

 private:
  friend class Graph;
  Neighbours(const Edge* edges, std::uint32_t first, bool up)
      : edges_{edges}, first_{first}, up_{up} {}

  const Edge* edges_;
  std::uint32_t first_;
  bool up_;
};

inline Graph::Neighbours Graph::deps(StorageId id) const {
  return {edges_.data(), (*this)[id].first_dep_, true};
}
inline Graph::Neighbours Graph::dependents(StorageId id) const {
  return {edges_.data(), (*this)[id].first_dependent_, false};
}

}  // namespace weir
