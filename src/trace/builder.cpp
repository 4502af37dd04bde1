#include "trace/builder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "trace/message.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

constexpr std::size_t kMostItems = std::size_t{1} << 31;
constexpr std::int64_t kMostTotal = std::int64_t{1} << 61;

void check_size(Bytes size, const char* what = "a storage") {
  if (size < Bytes{0})
    throw BadInput(fmt::format("{} cannot have a negative size; give bytes >= 0", what));
  if (size > kMostBytes)
    throw BadInput(fmt::format("{} of {} bytes is beyond 2^50; check the unit", what, size.n));
}

void check_cost(Nanos cost) {
  if (cost < Nanos{0}) throw BadInput("an op cannot have a negative cost; give nanoseconds >= 0");
  if (cost > kMostNanos)
    throw BadInput(fmt::format("an op of {} ns is beyond 2^50; check the unit", cost.n));
}

void check_layout(const Layout& layout) {
  auto negative = [](std::int64_t n) { return n < 0; };
  if (layout.dtype.empty() && !layout.shape.empty())
    throw BadInput("a shape needs a dtype; give both or none");
  if (layout.shape.size() != layout.strides.size())
    throw BadInput("shape and strides differ in length; give one stride per dimension");
  if (std::ranges::any_of(layout.shape, negative) ||
      std::ranges::any_of(layout.strides, negative) || negative(layout.offset))
    throw BadInput("shape, strides and offset cannot be negative");
}

void check_room(std::size_t used, std::size_t more, const char* what) {
  if (used + more > kMostItems)
    throw BadInput(fmt::format("more than 2^31 {} in one trace; split it", what));
}

}  // namespace

TraceBuilder::TraceBuilder(ViewRule views, std::string source, Nanos start) : total_cost_{start} {
  check_cost(start);
  trace_.start = start;
  trace_.source = std::move(source);
  trace_.views = views;
  name_ids_.emplace("", 0);
}

void TraceBuilder::pages(const PageCosts& costs) {
  for (const Nanos cost : {costs.touch, costs.huge_touch, costs.move}) check_cost(cost);
  trace_.pages = costs;
}

TensorId TraceBuilder::constant(Bytes size, const Layout& layout) {
  check_size(size);
  check_layout(layout);
  check_room(tensors(), 1, "tensors");
  check_room(events(), 1, "events");
  check_room(trace_.geometry.size(), 2 * layout.shape.size() + 1, "numbers of geometry");
  total_bytes_ = total_with(total_bytes_, size);
  TensorId tensor = add_tensor(add_storage(size), kFresh, layout);
  add_event(EventKind::Constant, index(tensor));
  return tensor;
}

std::uint32_t TraceBuilder::layout(const Layout& layout) {
  check_layout(layout);
  check_room(trace_.layouts.size(), 1, "layouts");
  check_room(trace_.geometry.size(), 2 * layout.shape.size() + 1, "numbers of geometry");
  const std::uint32_t number = layouts_.find_or_add(layout);
  if (number == trace_.layouts.size())
    trace_.layouts.push_back({.dtype = intern(layout.dtype),
                              .geometry = add_geometry(layout),
                              .rank = static_cast<std::uint32_t>(layout.shape.size())});
  return number;
}

void TraceBuilder::all_forward() {
  for (TraceOp& op : trace_.ops) op.phase = Phase::Forward;
}

TensorId TraceBuilder::op(const OpCall& call) {
  check_cost(call.cost);
  check_size(call.scratch, "scratch memory");
  check_room_for(call);
  check_usable(call);
  if (!call.mutated.empty()) check_mutated(call);
  check_outputs(call);
  check_arguments(call);

  TraceOp op{.name = intern(call.name),
             .phase = call.phase,
             .recomputable = call.recomputable,
             .cost = call.cost,
             .scratch = call.scratch};
  total_cost_ += call.cost;
  auto append = [](auto& to, auto from, std::uint32_t& first, std::uint32_t& count) {
    first = static_cast<std::uint32_t>(to.size());
    count = static_cast<std::uint32_t>(from.size());
    to.insert(to.end(), from.begin(), from.end());
  };
  append(trace_.inputs, call.inputs, op.first_input, op.inputs);
  append(trace_.mutated, call.mutated, op.first_mutated, op.mutated);
  append(trace_.arguments, call.arguments, op.first_argument, op.arguments);
  add_settings(call.settings, op);
  op.first_output = static_cast<std::uint32_t>(tensors());
  op.outputs = static_cast<std::uint32_t>(call.outputs.size());
  for (const Output& out : call.outputs) {
    if (out.view_of == kFresh) total_bytes_ += out.size;
    StorageId storage = out.view_of == kFresh
                            ? add_storage(out.size)
                            : storage_of(call.inputs[static_cast<std::size_t>(out.view_of)]);
    add_tensor(storage, out.view_of, out.layout);
  }
  trace_.ops.push_back(op);
  add_event(EventKind::Op, static_cast<std::uint32_t>(trace_.ops.size() - 1));
  return TensorId{op.first_output};
}

void TraceBuilder::retain(TensorId tensor) {
  check_known(tensor);
  check_room(events(), 1, "events");
  if (trace_.views == ViewRule::Keep && references(tensor) == 0)
    throw BadInput("a released tensor cannot be retained; retain it before its last release");
  ++references_[index(tensor)];
  add_event(EventKind::Retain, index(tensor));
}

void TraceBuilder::release(TensorId tensor) {
  check_known(tensor);
  check_room(events(), 1, "events");
  if (references(tensor) == 0)
    throw BadInput("a tensor is released more often than it was referenced; remove this release");
  --references_[index(tensor)];
  add_event(EventKind::Release, index(tensor));
}

void TraceBuilder::keep(TensorId tensor) {
  check_known(tensor);
  check_room(events(), 1, "events");
  if (references(tensor) == 0)
    throw BadInput("a released tensor cannot be kept; keep it before its last release");
  add_event(EventKind::Keep, index(tensor));
}

void TraceBuilder::step() {
  check_room(events(), 1, "events");
  add_event(EventKind::Step, 0);
}

StorageId TraceBuilder::storage_of(TensorId tensor) const {
  return trace_.tensors[index(tensor)].storage;
}

Bytes TraceBuilder::storage_size(TensorId tensor) const {
  return trace_.storages[index(storage_of(tensor))].size;
}

void TraceBuilder::reserve(std::size_t events) {
  trace_.events.reserve(events);
  trace_.inputs.reserve(events / 2);
  trace_.tensors.reserve(events / 3);
  references_.reserve(events / 3);
  trace_.storages.reserve(events / 4);
  trace_.ops.reserve(events / 4);
}

Trace TraceBuilder::finish(std::size_t lines) && {
  trace_.lines = lines;
  return std::move(trace_);
}

void TraceBuilder::check_known(TensorId tensor) const {
  if (index(tensor) >= tensors())
    throw BadInput(
        fmt::format("tensor {} does not exist; define it before its use", index(tensor)));
}

void TraceBuilder::check_usable(const OpCall& call) const {
  for (TensorId input : call.inputs) {
    check_known(input);
    if (trace_.views == ViewRule::Keep && references(input) == 0)
      throw BadInput(fmt::format("op {} uses a released tensor; release it after its last use",
                                 quoted(call.name)));
  }
}

void TraceBuilder::check_mutated(const OpCall& call) {
  if (trace_.views == ViewRule::Rerun)
    throw BadInput(
        fmt::format("op {} mutates an input, but a trace whose views are re-run cannot "
                    "have in-place ops; use \"views\":\"keep\"",
                    quoted(call.name)));
  seen_.assign(call.inputs.size(), false);
  for (std::uint32_t position : call.mutated) {
    if (position >= call.inputs.size())
      throw BadInput(fmt::format("op {} mutates input {} but has {} inputs; count them from 0",
                                 quoted(call.name), position, call.inputs.size()));
    if (seen_[position])
      throw BadInput(fmt::format("op {} lists mutated input {} twice; list it once",
                                 quoted(call.name), position));
    seen_[position] = true;
  }
}

void TraceBuilder::check_outputs(const OpCall& call) const {
  Bytes sum = total_bytes_;
  for (const Output& out : call.outputs) {
    check_layout(out.layout);
    if (out.view_of == kFresh) {
      check_size(out.size);
      sum = total_with(sum, out.size);
    } else if (out.view_of < 0 || static_cast<std::size_t>(out.view_of) >= call.inputs.size()) {
      throw BadInput(
          fmt::format("op {} returns a view of input {} but has {} inputs; count them from 0",
                      quoted(call.name), out.view_of, call.inputs.size()));
    }
  }
}

void TraceBuilder::check_arguments(const OpCall& call) const {
  for (const TraceArgument& argument : call.arguments) {
    if (argument.layout >= trace_.layouts.size())
      throw BadInput(fmt::format("op {} has an argument of layout {}, which does not exist",
                                 quoted(call.name), argument.layout));
    if (argument.place < TraceArgument::kNotInput ||
        argument.place >= static_cast<std::int64_t>(call.inputs.size()))
      throw BadInput(
          fmt::format("op {} has an argument at input {} but {} inputs; count them from 0",
                      quoted(call.name), argument.place, call.inputs.size()));
  }
}

void TraceBuilder::check_room_for(const OpCall& call) const {
  if (total_cost_.n + call.cost.n > kMostTotal)
    throw BadInput("the costs of all ops together exceed 2^61 ns; check the unit");
  std::size_t numbers = 0;
  for (const Output& out : call.outputs) numbers += 2 * out.layout.shape.size() + 1;
  check_room(trace_.geometry.size(), numbers, "numbers of geometry");
  numbers = 0;
  for (const Setting& setting : call.settings) numbers += setting.values.size();
  check_room(trace_.numbers.size(), numbers, "numbers of settings");
  check_room(trace_.settings.size(), call.settings.size(), "settings");
  check_room(trace_.arguments.size(), call.arguments.size(), "arguments");
  check_room(trace_.inputs.size(), call.inputs.size(), "inputs");
  check_room(tensors(), call.outputs.size(), "tensors");
  check_room(events(), 1, "events");
}

Bytes TraceBuilder::total_with(Bytes sum, Bytes size) const {
  if (sum.n + size.n > kMostTotal)
    throw BadInput("all storages together exceed 2^61 bytes; check the unit");
  return sum + size;
}

std::uint32_t TraceBuilder::intern(std::string_view name) {
  if (auto known = name_ids_.find(name); known != name_ids_.end()) return known->second;
  auto id = static_cast<std::uint32_t>(trace_.names.size());
  trace_.names.emplace_back(name);
  name_ids_.emplace(name, id);
  return id;
}

StorageId TraceBuilder::add_storage(Bytes size) {
  trace_.storages.push_back({size});
  return StorageId{static_cast<std::uint32_t>(trace_.storages.size() - 1)};
}

TensorId TraceBuilder::add_tensor(StorageId storage, std::int32_t alias_of, const Layout& layout) {
  TraceTensor tensor{.storage = storage, .alias_of = alias_of};
  if (!layout.dtype.empty()) {
    tensor.dtype = intern(layout.dtype);
    tensor.geometry = add_geometry(layout);
    tensor.rank = static_cast<std::uint32_t>(layout.shape.size());
  }
  trace_.tensors.push_back(tensor);
  references_.push_back(1);
  return TensorId{static_cast<std::uint32_t>(tensors() - 1)};
}

std::uint32_t TraceBuilder::add_geometry(const Layout& layout) {
  auto first = static_cast<std::uint32_t>(trace_.geometry.size());
  std::ranges::copy(layout.shape, std::back_inserter(trace_.geometry));
  std::ranges::copy(layout.strides, std::back_inserter(trace_.geometry));
  trace_.geometry.push_back(layout.offset);
  return first;
}

void TraceBuilder::add_settings(std::span<const Setting> settings, TraceOp& op) {
  op.first_setting = static_cast<std::uint32_t>(trace_.settings.size());
  op.settings = static_cast<std::uint32_t>(settings.size());
  for (const Setting& setting : settings) {
    trace_.settings.push_back({.name = intern(setting.name),
                               .first = static_cast<std::uint32_t>(trace_.numbers.size()),
                               .values = static_cast<std::uint32_t>(setting.values.size())});
    std::ranges::copy(setting.values, std::back_inserter(trace_.numbers));
  }
}

void TraceBuilder::add_event(EventKind kind, std::uint32_t item) {
  trace_.events.push_back({kind, item});
}

}  // namespace weir::trace
