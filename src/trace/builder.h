#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/layout_table.h"
#include "weir/trace.h"
#include "weir/types.h"

namespace weir::trace {

struct Output {
  Bytes size = {};                // of the fresh storage; a view has none of its own
  std::int32_t view_of = kFresh;  // position among the inputs
  Layout layout = {};
};

struct Setting {
  std::string_view name;
  std::span<const std::int64_t> values = {};
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
  std::span<const TraceArgument> arguments = {};  // their layouts are those of `layout()`
  std::span<const Setting> settings = {};
};

// Makes a Trace and is the only place that enforces its invariants. What cannot be part of a trace
// throws BadInput (without a place: the caller knows it) and leaves the builder as it was.
//
// A tensor without references is gone under ViewRule::Keep: using it is an error. Under DTR's
// rules (ViewRule::Rerun) it can still be recomputed, so it may be used and retained again.
class TraceBuilder {
 public:
  TraceBuilder(ViewRule views, std::string source, Nanos start = {});

  void pages(const PageCosts& costs);
  TensorId constant(Bytes size, const Layout& layout = {});
  std::uint32_t layout(const Layout& layout);  // its number, for arguments of ops
  TensorId op(const OpCall& call);             // the first output; the others follow it
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
  void check_arguments(const OpCall& call) const;
  void check_room_for(const OpCall& call) const;
  [[nodiscard]] Bytes total_with(Bytes sum, Bytes size) const;
  std::uint32_t intern(std::string_view name);
  StorageId add_storage(Bytes size);
  TensorId add_tensor(StorageId storage, std::int32_t alias_of, const Layout& layout);
  void add_settings(std::span<const Setting> settings, TraceOp& op);
  std::uint32_t add_geometry(const Layout& layout);
  void add_event(EventKind kind, std::uint32_t item);

  Trace trace_;
  std::vector<std::int32_t> references_;  // one per tensor, never negative
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> name_ids_;
  LayoutTable layouts_;     // those of the trace
  std::vector<bool> seen_;  // scratch of check_mutated
  Bytes total_bytes_;
  Nanos total_cost_;
};

}  // namespace weir::trace
