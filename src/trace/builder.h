#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weir/trace.h"
#include "weir/types.h"

namespace weir::trace {

// How a tensor lies in its storage. An empty dtype means that nothing of it is known.
struct Layout {
  std::string_view dtype = {};
  std::span<const std::int64_t> shape = {}, strides = {};  // of equal length, in elements
  std::int64_t offset = 0;                                 // in elements
};

struct Output {
  Bytes size = {};                // of the fresh storage; a view has none of its own
  std::int32_t view_of = kFresh;  // position among the inputs
  Layout layout = {};
};

struct OpCall {
  std::string_view name;
  Phase phase = Phase::Forward;
  Nanos cost = {};
  bool recomputable = true;
  std::span<const TensorId> inputs = {};
  std::span<const std::uint32_t> mutated = {};  // positions among the inputs
  std::span<const Output> outputs = {};
  Bytes scratch = {};  // the most it takes at one time beside its outputs, and gives back
};

// Makes a Trace and is the only place that enforces its invariants. What cannot be part of a trace
// throws BadInput (without a place: the caller knows it) and leaves the builder as it was.
//
// A tensor without references is gone under ViewRule::Keep: using it is an error. Under DTR's
// rules (ViewRule::Rerun) it can still be recomputed, so it may be used and retained again.
class TraceBuilder {
 public:
  TraceBuilder(ViewRule views, std::string source, Nanos start = {});

  void turnover(const Turnover& turnover);
  TensorId constant(Bytes size, const Layout& layout = {});
  TensorId op(const OpCall& call);  // the first output; the others follow it
  void retain(TensorId tensor);
  void release(TensorId tensor);
  void keep(TensorId tensor);
  void step();
  // It turns out that all ops so far belong to the forward pass.
  void all_forward();

  [[nodiscard]] std::int32_t references(TensorId tensor) const {
    return references_[index(tensor)];
  }
  [[nodiscard]] StorageId storage_of(TensorId tensor) const;
  [[nodiscard]] Bytes storage_size(TensorId tensor) const;
  [[nodiscard]] std::size_t tensors() const { return trace_.tensors.size(); }
  [[nodiscard]] std::size_t storages() const { return trace_.storages.size(); }
  [[nodiscard]] std::size_t events() const { return trace_.events.size(); }

  void reserve(std::size_t events);  // a hint
  Trace finish(std::size_t lines = 0) &&;

 private:
  struct TextHash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  void check_known(TensorId tensor) const;
  void check_usable(const OpCall& call) const;
  void check_mutated(const OpCall& call);
  void check_outputs(const OpCall& call) const;
  void check_room_for(const OpCall& call) const;
  [[nodiscard]] Bytes total_with(Bytes sum, Bytes size) const;
  std::uint32_t intern(std::string_view name);
  StorageId add_storage(Bytes size);
  TensorId add_tensor(StorageId storage, std::int32_t alias_of, const Layout& layout);
  void add_event(EventKind kind, std::uint32_t item);

  Trace trace_;
  std::vector<std::int32_t> references_;  // one per tensor, never negative
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> name_ids_;
  std::vector<bool> seen_;  // scratch of check_mutated
  Bytes total_bytes_;
  Nanos total_cost_;
};

}  // namespace weir::trace
