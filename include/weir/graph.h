#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weir/storage.h"
#include "weir/types.h"

namespace weir {

// A view onto a storage, and the op output it is.
struct Tensor {
  StorageId storage;
  OpId op;
  bool fresh;                             // it owns the storage: its op creates the bytes
  std::uint32_t references = 0;           // of the program
  std::uint32_t defined_at = UINT32_MAX;  // storage.evictions when its op last ran
  std::uint32_t next = UINT32_MAX;        // the next tensor on the same storage
};

// When an op first ran, in the program's own terms.
struct FirstRun {
  std::uint32_t step = 0;
  Phase phase = Phase::Forward;
  Nanos position{};
  std::uint64_t kind = 0;
};

// What is needed to run one operator again.
struct OpRecord {
  OpId id;
  std::uint64_t tag;  // the executor's own: what to call
  Nanos cost{};
  bool pure;               // running it again gives the same bytes and changes nothing else
  std::uint32_t step = 0;  // the training step it first ran in
  Phase phase = Phase::Forward;
  Nanos position{};        // the time of the program's ops before it, not counting those run again
  std::uint64_t kind = 0;  // which operator it is: equal for equal ones
  std::uint32_t first_input, inputs;
  TensorId first_output;
  std::uint32_t outputs = 0;
  Bytes makes{};              // of its fresh outputs
  std::uint32_t holders = 0;  // recipes it is in, and jobs that use it
  std::uint32_t living = 0;   // outputs whose storage is not buried
};

// Places in a growing array that were given up, by how many neighbouring elements they have.
class FreeSpans {
 public:
  void give(std::uint32_t first, std::uint32_t count) {
    if (count == 0) return;
    if (firsts_.size() <= count) firsts_.resize(count + 1);
    firsts_[count].push_back(first);
  }
  // UINT32_MAX: there is none of this length.
  std::uint32_t take(std::uint32_t count) {
    if (firsts_.size() <= count || firsts_[count].empty()) return UINT32_MAX;
    const std::uint32_t first = firsts_[count].back();
    firsts_[count].pop_back();
    return first;
  }

 private:
  std::vector<std::vector<std::uint32_t>> firsts_;  // by count
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

  // If ids are not used again, they number what was added in the order it was.
  explicit Graph(bool reuse_ids = false) : reuse_ids_{reuse_ids} {}

  StorageId add_storage(Bytes size);
  // Held once, for whoever adds it.
  OpId add_op(std::uint64_t tag, bool pure, std::span<const TensorId> inputs,
              const FirstRun& first_run = {});
  // Before the op enters any recipe.
  void set_cost(OpId op, Nanos cost) { ops_[index(op)].cost = cost; }
  // Makes room for all outputs of an op, which are then added one by one.
  void begin_outputs(OpId op, std::uint32_t count);
  TensorId add_output(OpId op, StorageId storage, bool fresh);

  void hold(OpId op) { ++ops_[index(op)].holders; }
  // Returns true if the op record will never be run again.
  bool drop(OpId op);
  // The storage is dead and nothing depends on it: its id, and those of its tensors and of ops that
  // nothing needs any more, will be used again.
  void bury(StorageId storage);

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
  // Ids in use, while those above count all that ever were.
  [[nodiscard]] std::size_t living_ops() const { return ops_.size() - free_ops_.size(); }
  [[nodiscard]] std::size_t living_storages() const {
    return storages_.size() - free_storages_.size();
  }
  [[nodiscard]] std::span<const TensorId> inputs(const OpRecord& op) const {
    return std::span(inputs_).subspan(op.first_input, op.inputs);
  }
  // The version each input's storage had when the op was added.
  [[nodiscard]] std::span<const std::uint32_t> versions(const OpRecord& op) const {
    return std::span(versions_).subspan(op.first_input, op.inputs);
  }
  [[nodiscard]] std::span<const OpId> recipe(StorageId id) const {
    const Storage& s = (*this)[id];
    if (s.recipe_room_ == 0) return {&s.recipe_, s.recipe_length_};
    return std::span(recipes_).subspan(index(s.recipe_), s.recipe_length_);
  }
  [[nodiscard]] Neighbours deps(StorageId id) const;
  [[nodiscard]] Neighbours dependents(StorageId id) const;

  void reserve(std::size_t tensors, std::size_t ops);

 private:
  void add_edge(StorageId dep, StorageId dependent);
  void free_op(OpId op);
  void make_room(Storage& s);

  bool reuse_ids_;
  std::vector<Storage> storages_;
  std::vector<Tensor> tensors_;
  std::vector<OpRecord> ops_;
  std::vector<TensorId> inputs_;
  std::vector<std::uint32_t> versions_;
  std::vector<OpId> recipes_;
  std::vector<Edge> edges_;
  std::uint32_t free_edge_ = UINT32_MAX;
  // What was buried, to be used again.
  std::vector<StorageId> free_storages_;
  std::vector<OpId> free_ops_;
  FreeSpans free_inputs_, free_tensors_, free_recipes_;
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
  [[nodiscard]] bool empty() const { return first_ == UINT32_MAX; }

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
