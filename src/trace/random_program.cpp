#include "trace/random_program.h"

#include <algorithm>
#include <utility>

namespace weir::trace {

RandomProgram::RandomProgram(ViewRule views, std::string source, std::uint64_t seed,
                             const Limits& limits)
    : builder_{views, std::move(source)}, rng_{seed}, limits_{limits} {}

RandomProgram::Draft RandomProgram::draft(Phase phase) {
  Draft draft;
  draft.phase = phase;
  draft.recomputable = !chance(1, 12);
  draft_inputs(draft);
  if (!draft.inputs.empty() && chance(1, 5)) {
    draft.name = "view";
    draft.outputs.push_back({.view_of = static_cast<std::int32_t>(below(draft.inputs.size()))});
    return draft;
  }
  draft.name = draft.inputs.empty() ? "random" : draft.inputs.size() == 1 ? "relu" : "add";
  std::uint64_t outputs = chance(1, 4) ? 2 + below(2) : 1;
  while (draft.outputs.size() < outputs)
    draft.outputs.push_back(fresh_or_view(draft.inputs.size()));
  if (limits_.may_mutate && !draft.inputs.empty() && chance(1, 4)) draft_mutation(draft);
  return draft;
}

void RandomProgram::draft_inputs(Draft& draft) {
  if (!holds_any() || chance(1, 10)) return;
  for (std::uint64_t inputs = 1 + below(3); inputs > 0; --inputs) draft.inputs.push_back(pick());
  if (chance(1, 8)) draft.inputs.push_back(draft.inputs.front());
}

void RandomProgram::draft_mutation(Draft& draft) {
  draft.name = "add_";
  draft.mutated.push_back(static_cast<std::uint32_t>(below(draft.inputs.size())));
  std::uint32_t first = draft.mutated.front();
  if (draft.inputs.size() > 1 && chance(1, 4)) draft.mutated.push_back(first == 0 ? 1 : first - 1);
  if (chance(1, 4)) return;  // also has outputs, as batch norm does
  draft.outputs.clear();
  if (chance(1, 2)) draft.outputs.push_back({.view_of = static_cast<std::int32_t>(first)});
}

std::vector<TensorId> RandomProgram::run(const Draft& draft) {
  Nanos cost{chance(1, 10) ? 0
                           : static_cast<std::int64_t>(
                                 1 + below(static_cast<std::uint64_t>(
                                         std::max<std::int64_t>(limits_.most_cost.n, 1))))};
  TensorId first = builder_.op({.name = draft.name,
                                .phase = draft.phase,
                                .cost = cost,
                                .recomputable = draft.recomputable,
                                .inputs = draft.inputs,
                                .mutated = draft.mutated,
                                .outputs = draft.outputs});
  std::vector<TensorId> outputs;
  for (std::uint32_t i = 0; i < draft.outputs.size(); ++i)
    outputs.push_back(TensorId{index(first) + i});
  return outputs;
}

TensorId RandomProgram::constant() { return builder_.constant(fresh().size); }

Output RandomProgram::fresh() {
  if (chance(1, 12)) return {.size = {0}};
  auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(limits_.most_bytes.n, 1));
  return {.size = {static_cast<std::int64_t>(1 + below(most))}};
}

Output RandomProgram::fresh_or_view(std::size_t inputs) {
  if (inputs > 0 && chance(1, 4)) return {.view_of = static_cast<std::int32_t>(below(inputs))};
  return fresh();
}

TensorId RandomProgram::pick() {
  std::size_t recent = std::min<std::size_t>(held_.size(), 4);
  if (chance(1, 2)) return held_[held_.size() - 1 - below(recent)];
  return held_[below(held_.size())];
}

bool RandomProgram::retain(TensorId tensor) {
  if (builder_.references(tensor) == 0) return false;
  builder_.retain(tensor);
  return true;
}

void RandomProgram::change_references() {
  if (holds_any() && chance(1, 6)) {
    TensorId tensor = pick();
    builder_.retain(tensor);
    hold(tensor);
  }
  if (holds_any() && chance(1, 2)) release_at(below(held_.size()));
  while (held_.size() > limits_.most_live) release_at(below(held_.size()));
}

void RandomProgram::release_held(std::uint64_t part, std::uint64_t of) {
  for (std::size_t place = held_.size(); place-- > 0;)
    if (chance(part, of)) release_at(place);
}

void RandomProgram::keep_held() {
  for (TensorId tensor : held_) builder_.keep(tensor);
}

void RandomProgram::release_at(std::size_t place) {
  builder_.release(held_[place]);
  held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(place));
}

}  // namespace weir::trace
