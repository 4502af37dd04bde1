#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weir/types.h"

namespace weir {

// What becomes of a view when its storage is evicted: `Keep` = it stays valid and costs nothing to
// bring back (Weir's own runtime); `Rerun` = it is lost and its op must run again (DTR).
enum class ViewRule : std::uint8_t { Keep, Rerun };

enum class EventKind : std::uint8_t {
  Constant,  // tensor: appears from outside, can never be recomputed, stays resident
  Op,        // op: runs; its outputs appear with one reference each
  Retain,    // tensor: one more reference
  Release,   // tensor: one reference less
  Keep,      // tensor: a result of the run; must be resident now and stay so
  Step,      // none: a training step ends here
};

struct TraceEvent {
  EventKind kind;
  std::uint32_t item = 0;  // index into Trace::ops for Op, into Trace::tensors for the others

  bool operator==(const TraceEvent&) const = default;
};

struct TraceStorage {
  Bytes size;

  bool operator==(const TraceStorage&) const = default;
};

inline constexpr std::int32_t kFresh = -1;

// How a tensor lies in its storage. An empty dtype means that nothing of it is known.
struct Layout {
  std::string_view dtype = {};
  std::span<const std::int64_t> shape = {}, strides = {};  // of equal length, in elements
  std::int64_t offset = 0;                                 // in elements
};

// One that many arguments may share.
struct TraceLayout {
  std::uint32_t dtype = 0;     // as in TraceTensor
  std::uint32_t geometry = 0;  // as in TraceTensor
  std::uint32_t rank = 0;

  bool operator==(const TraceLayout&) const = default;
};

// A tensor argument of an op as the op saw it. Views share a storage, so inputs do not tell that.
struct TraceArgument {
  std::uint32_t layout = 0;        // index into Trace::layouts; 0: not known, or not given at all
  std::int32_t place = kNotInput;  // among the op's inputs

  static constexpr std::int32_t kNotInput = -1;
  bool operator==(const TraceArgument&) const = default;
};

// An argument that is no tensor: the stride of a convolution.
struct TraceSetting {
  std::uint32_t name = 0;               // index into Trace::names
  std::uint32_t first = 0, values = 0;  // range of Trace::numbers

  bool operator==(const TraceSetting&) const = default;
};

// Shape, strides and element type are for people and for the cost model; replay does not need them.
struct TraceTensor {
  StorageId storage{};             // index into Trace::storages
  std::int32_t alias_of = kFresh;  // position among the op's inputs of the tensor it is a view of
  std::uint32_t dtype = 0;         // index into Trace::names; names[0] is "" = not known
  std::uint32_t geometry =
      0;  // first of 2*rank + 1 numbers in Trace::geometry: shape, strides, offset
  std::uint32_t rank = 0;

  bool operator==(const TraceTensor&) const = default;
};

struct TraceOp {
  std::uint32_t name = 0;  // index into Trace::names
  Phase phase = Phase::Forward;
  bool recomputable = true;  // false: running it again would not give the same bytes
  Nanos cost;
  Bytes scratch;  // the most it takes at one time beside its outputs, and gives back
  std::uint32_t first_input = 0, inputs = 0;        // range of Trace::inputs
  std::uint32_t first_mutated = 0, mutated = 0;     // range of Trace::mutated
  std::uint32_t first_output = 0, outputs = 0;      // range of Trace::tensors
  std::uint32_t first_argument = 0, arguments = 0;  // range of Trace::arguments; none: not told
  std::uint32_t first_setting = 0, settings = 0;    // range of Trace::settings

  bool operator==(const TraceOp&) const = default;
};

// What memory costs beside the ops, on the machine of a recording. Zero: not known.
struct PageCosts {
  Nanos touch, huge_touch;  // to write to a MiB first, that comes in small pages or in huge ones
  Nanos move;               // to move pages to another address

  bool operator==(const PageCosts&) const = default;
};

// A recorded sequence of events, in flat arrays. Made by TraceBuilder, which guarantees that every
// index is in range, that tensors are numbered in order of appearance, and that sums do not
// overflow.
struct Trace {
  std::string source;  // where it came from, for messages
  ViewRule views = ViewRule::Keep;
  Nanos start;  // what the clock shows at the first event: 1 in DTR's logs, 0 elsewhere
  PageCosts pages;
  std::vector<std::string> names{""};
  std::vector<TraceStorage> storages;
  std::vector<TraceTensor> tensors;
  std::vector<TraceOp> ops;
  std::vector<TensorId> inputs;
  std::vector<std::uint32_t> mutated;  // positions among the op's inputs
  std::vector<std::int64_t> geometry;
  std::vector<TraceLayout> layouts{{}};
  std::vector<TraceArgument> arguments;
  std::vector<TraceSetting> settings;
  std::vector<std::int64_t> numbers;  // of settings
  std::vector<TraceEvent> events;
  std::size_t lines = 0;  // lines of text it was read from; 0 if it was generated

  [[nodiscard]] std::span<const TensorId> inputs_of(const TraceOp& op) const {
    return std::span(inputs).subspan(op.first_input, op.inputs);
  }
  [[nodiscard]] std::span<const std::uint32_t> mutated_by(const TraceOp& op) const {
    return std::span(mutated).subspan(op.first_mutated, op.mutated);
  }
  [[nodiscard]] std::span<const TraceTensor> outputs_of(const TraceOp& op) const {
    return std::span(tensors).subspan(op.first_output, op.outputs);
  }
  [[nodiscard]] std::span<const TraceArgument> arguments_of(const TraceOp& op) const {
    return std::span(arguments).subspan(op.first_argument, op.arguments);
  }
  [[nodiscard]] std::span<const TraceSetting> settings_of(const TraceOp& op) const {
    return std::span(settings).subspan(op.first_setting, op.settings);
  }
  [[nodiscard]] std::span<const std::int64_t> values_of(const TraceSetting& setting) const {
    return std::span(numbers).subspan(setting.first, setting.values);
  }
  // Of a TraceTensor or a TraceLayout.
  template <typename Item>
  [[nodiscard]] Layout layout_of(const Item& item) const {
    if (item.dtype == 0) return {};
    auto all = std::span(geometry).subspan(item.geometry, 2 * item.rank + 1);
    return {.dtype = names[item.dtype],
            .shape = all.first(item.rank),
            .strides = all.subspan(item.rank, item.rank),
            .offset = all.back()};
  }
};

}  // namespace weir
