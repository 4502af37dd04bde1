#include "pilot/mirror.h"

#include <algorithm>

namespace weir::pilot {

using plan::Value;
using plan::ValueId;

namespace {
std::uint32_t size_of(const auto& list) { return static_cast<std::uint32_t>(list.size()); }
}  // namespace

Mirror::Mirror(const Graph& graph, const ForwardLog& log, Bytes ahead)
    : log_{log},
      saved_{graph, log},
      values_(log.known().size(), kNone),
      gradients_(log.known().size(), kNone),
      wanted_(log.known().size()),
      stages_(log.ops().size()) {
  add_makers(graph);
  if (ahead > Bytes{}) problem_.ops.push_back({.name = {}, .cost = {}, .scratch = ahead});
  add_backward();
  add_end(graph);
  finish();
}

void Mirror::read(std::uint32_t op, std::uint32_t value) {
  std::vector<ValueId>& inputs = problem_.ops[op].inputs;
  if (std::ranges::find(inputs, ValueId{value}) != inputs.end()) return;
  inputs.push_back(ValueId{value});
  problem_.values[value].users.push_back(op);
}

// Numbers, by the ops that made them or changed them last.
std::vector<std::uint32_t> Mirror::remakable(const Graph& graph) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t n = 0; n < log_.known().size(); ++n) {
    const ForwardLog::Known& known = log_.known()[n];
    if (known.maker == ForwardLog::kNone || !log_.lives(n)) continue;
    const Storage& s = graph[known.storage];
    const bool away = s.where() == Residency::Evicted;
    if (s.has_recipe() && (away || s.resident())) found.push_back(n);
  }
  std::ranges::stable_sort(found, {}, [&](std::uint32_t n) { return log_.known()[n].maker; });
  return found;
}

// What an op made at once comes back at once; what was changed in place comes back alone.
void Mirror::add_makers(const Graph& graph) {
  std::uint32_t last = ForwardLog::kNone;
  for (std::uint32_t n : remakable(graph)) {
    const std::uint32_t maker = log_.known()[n].maker;
    const ForwardLog::Op& op = log_.ops()[maker];
    if (maker != last || op.changes)
      problem_.ops.push_back({.name = {}, .cost = {}, .scratch = op.scratch});
    last = maker;
    add_value(graph, n);
  }
  problem_.start.first = size_of(problem_.ops);
}

void Mirror::add_value(const Graph& graph, std::uint32_t number) {
  const StorageId storage = log_.known()[number].storage;
  const Storage& s = graph[storage];
  const std::uint32_t op = size_of(problem_.ops) - 1, value = size_of(problem_.values);
  values_[number] = value;
  problem_.ops[op].cost = std::max(problem_.ops[op].cost, s.cost);
  problem_.ops[op].outputs.push_back(ValueId{value});
  problem_.values.push_back(
      {.storage = StorageId{value}, .size = s.size, .maker = op, .appears = op});
  problem_.storages.push_back(s.size);
  if (s.resident()) {
    problem_.start.resident.push_back(ValueId{value});
    resident_ += s.size;
  }
  for (StorageId dep : graph.deps(storage)) {
    const std::uint32_t from = value_of(log_.number_of(dep));
    if (from != kNone && problem_.values[from].maker < op) read(op, from);
  }
}

void Mirror::add_backward() {
  for (std::uint32_t op = size_of(log_.ops()); op-- > 0;) {
    stages_[op] = size_of(problem_.ops);
    for (std::uint32_t n : saved_.by(op)) wanted_[n] = true;
    const bool is_view = log_.ops()[op].made == 0 && !log_.ops()[op].changes;
    if (!is_view) add_backward_of(op);
  }
}

void Mirror::add_backward_of(std::uint32_t op) {
  const ForwardLog::Op& logged = log_.ops()[op];
  const std::uint32_t at = size_of(problem_.ops);
  problem_.ops.push_back(
      {.name = {}, .phase = Phase::Backward, .cost = logged.cost, .scratch = logged.scratch});
  for (std::uint32_t n : saved_.by(op))
    if (values_[n] != kNone) read(at, values_[n]);
  add_gradients(logged, at);
}

// A gradient stays until the backward of the op that made what it is of; that of what came from
// outside stays. What several ops read has a second one for a moment, which is added to the first.
void Mirror::add_gradients(const ForwardLog::Op& op, std::uint32_t at) {
  for (const ForwardLog::Read& read : log_.reads(op)) {
    const Bytes size = log_.known()[read.number].size;
    std::uint32_t& gradient = gradients_[read.number];
    if (gradient == kNone) {
      gradient = size_of(problem_.values);
      problem_.values.push_back({.storage = StorageId{gradient},
                                 .size = size,
                                 .maker = at,
                                 .appears = at,
                                 .last_remake = at,
                                 .first_held = at + 1,
                                 .end_held = kNone});
      problem_.storages.push_back(size);
      problem_.ops[at].outputs.push_back(ValueId{gradient});
    } else if (problem_.values[gradient].maker != at) {
      problem_.ops[at].scratch += size;
    }
  }
  if (op.changes) return;
  for (std::uint32_t n = op.first_made; n < op.first_made + op.made; ++n)
    if (gradients_[n] != kNone) problem_.values[gradients_[n]].end_held = at + 1;
}

// What backward does not want somebody will look at in the end.
void Mirror::add_end(const Graph& graph) {
  for (std::uint32_t n = 0; n < values_.size(); ++n) {
    if (values_[n] == kNone || wanted_[n]) continue;
    if (graph[log_.known()[n].storage].references == 0) continue;
    problem_.ops.push_back({.name = {}, .phase = Phase::Backward, .cost = {}});
    read(size_of(problem_.ops) - 1, values_[n]);
  }
}

void Mirror::finish() {
  for (Value& value : problem_.values) {
    if (value.maker < problem_.start.first) value.last_remake = problem_.end();
    if (value.end_held == kNone) value.end_held = problem_.end() + 1;
  }
  for (const plan::ProblemOp& op : problem_.ops) problem_.base_cost += op.cost;
}

}  // namespace weir::pilot
