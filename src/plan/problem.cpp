#include "plan/problem.h"

#include <algorithm>

#include <fmt/format.h>

#include "weir/manager.h"

namespace weir::plan {
namespace {

const std::uint32_t kLongestRecipe = Options{.budget = {}}.longest_recipe;

void add_once(std::vector<ValueId>& list, ValueId value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

class Builder {
 public:
  Builder(const Trace& trace, LetGo rule)
      : trace_{trace},
        rule_{rule},
        storages_(trace.storages.size()),
        tensors_(trace.tensors.size(), kNoValue) {
    problem_.source = trace.source;
    for (const TraceStorage& storage : trace.storages) problem_.storages.push_back(storage.size);
    last_ = static_cast<Stage>(trace.ops.size());
  }

  Problem build() && {
    for (const TraceEvent& event : trace_.events) see(event);
    for (std::size_t i = 0; i < storages_.size(); ++i)
      if (storages_[i].references > 0) storages_[i].released = last_ + 1;
    for (Value& value : problem_.values) set_held(value);
    return std::move(problem_);
  }

 private:
  struct State {
    std::int64_t references = 0;
    Stage released = 0;        // when the last reference went
    ValueId now = kNoValue;    // its latest version
    std::uint32_t recipe = 0;  // ops that bring it back; 0: nothing can
    std::uint32_t step = 0;    // it was made in
    bool constant = false, counted = false;
    Stage kept = UINT32_MAX;
  };

  [[nodiscard]] State& storage_of(std::uint32_t tensor) {
    return storages_[index(trace_.tensors[tensor].storage)];
  }
  [[nodiscard]] Stage stage() const { return static_cast<Stage>(problem_.ops.size()); }

  void see(const TraceEvent& event) {
    switch (event.kind) {
      case EventKind::Constant:
        return add_constant(event.item);
      case EventKind::Op:
        return add_op(trace_.ops[event.item]);
      case EventKind::Retain:
        return refer(event.item);
      case EventKind::Release:
        return release(event.item);
      case EventKind::Keep:
        return keep(event.item);
      case EventKind::Step:
        ++step_;
        return;
    }
  }

  ValueId add_value(Value value) {
    problem_.values.push_back(std::move(value));
    return ValueId{static_cast<std::uint32_t>(problem_.values.size() - 1)};
  }

  void add_constant(std::uint32_t tensor) {
    const StorageId storage = trace_.tensors[tensor].storage;
    State& state = storage_of(tensor);
    state.constant = true;
    state.now = add_value(
        {.storage = storage, .size = problem_.storages[index(storage)], .appears = stage()});
    tensors_[tensor] = state.now;
    refer(tensor);
  }

  void refer(std::uint32_t tensor) {
    State& state = storage_of(tensor);
    ++state.references;
    if (!state.counted) used_ += trace_.storages[index(trace_.tensors[tensor].storage)].size;
    state.counted = true;
    problem_.peak = std::max(problem_.peak, used_);
  }

  void release(std::uint32_t tensor) {
    State& state = storage_of(tensor);
    if (--state.references != 0) return;
    state.released = stage();
    if (state.kept != UINT32_MAX) return;
    used_ -= trace_.storages[index(trace_.tensors[tensor].storage)].size;
    state.counted = false;
  }

  void keep(std::uint32_t tensor) {
    storage_of(tensor).kept = std::min(storage_of(tensor).kept, stage());
    if (Value& value = problem_.values[index(value_of(tensor))]; value.view_of != kNoValue) {
      value.first_held = stage();
      value.end_held = last_ + 1;
    }
  }

  // What reading the tensor reads now.
  [[nodiscard]] ValueId value_of(std::uint32_t tensor) {
    const bool lost_alone = trace_.views == ViewRule::Rerun && tensors_[tensor] != kNoValue;
    return lost_alone ? tensors_[tensor] : storage_of(tensor).now;
  }

  void add_op(const TraceOp& op) {
    const std::uint32_t number = stage();
    problem_.ops.push_back(
        {.name = trace_.names[op.name], .phase = op.phase, .cost = op.cost, .scratch = op.scratch});
    problem_.base_cost += op.cost;
    problem_.signatures.push_back(signature_of(op));
    for (TensorId input : trace_.inputs_of(op)) add_input(number, value_of(index(input)));
    const std::vector<StorageId> changed = changed_by(op);
    for (StorageId storage : changed)
      change(storage, number, op.recomputable && changed.size() == 1);
    const bool pure = op.recomputable && changed.empty();
    for (std::uint32_t i = 0; i < op.outputs; ++i) add_output(op.first_output + i, number, pure);
    problem_.peak = std::max(problem_.peak, used_ + op.scratch);
  }

  void add_input(std::uint32_t op, ValueId value) {
    std::vector<ValueId>& inputs = problem_.ops[op].inputs;
    add_once(inputs, value);
    if (const ValueId bytes = problem_[value].view_of; bytes != kNoValue) add_once(inputs, bytes);
    for (ValueId input : {value, problem_[value].view_of}) {
      if (input == kNoValue) continue;
      std::vector<std::uint32_t>& users = problem_.values[index(input)].users;
      if (users.empty() || users.back() != op) users.push_back(op);
    }
  }

  [[nodiscard]] std::vector<StorageId> changed_by(const TraceOp& op) const {
    std::vector<StorageId> changed;
    for (std::uint32_t position : trace_.mutated_by(op)) {
      const StorageId storage = trace_.tensors[index(trace_.inputs_of(op)[position])].storage;
      if (std::ranges::find(changed, storage) == changed.end()) changed.push_back(storage);
    }
    return changed;
  }

  // What was made from the old version cannot be made again from here on, but for the storage's own
  // later versions, which are made by running all of its recipe.
  void change(StorageId storage, std::uint32_t op, bool pure) {
    State& state = storages_[index(storage)];
    const ValueId old = state.now;
    for (std::uint32_t reader : problem_[old].users) {
      if (reader == op) continue;
      for (ValueId made : problem_.ops[reader].outputs) outdate(made, storage, op);
    }
    problem_.values[index(old)].changed_by = op;
    const bool again =
        pure && state.recipe != 0 && state.recipe < kLongestRecipe && state.step == step_;
    state.recipe = again ? state.recipe + 1 : 0;
    state.now = add_value({.storage = storage,
                           .size = problem_.storages[index(storage)],
                           .maker = op,
                           .appears = op,
                           .last_remake = again ? last_ : op,
                           .change_of = old});
    problem_.ops[op].outputs.push_back(state.now);
  }

  void outdate(ValueId made, StorageId changed, std::uint32_t op) {
    Value& value = problem_.values[index(made)];
    if (value.storage == changed) return;
    value.last_remake = std::min(value.last_remake, op);
    storages_[index(value.storage)].recipe = 0;
  }

  void add_output(std::uint32_t tensor, std::uint32_t op, bool pure) {
    const TraceTensor& output = trace_.tensors[tensor];
    State& state = storage_of(tensor);
    const bool fresh = output.alias_of == kFresh;
    if (fresh || (trace_.views == ViewRule::Rerun && !state.constant)) {
      tensors_[tensor] =
          add_value({.storage = output.storage,
                     .size = fresh ? problem_.storages[index(output.storage)] : Bytes{},
                     .maker = op,
                     .appears = op,
                     .last_remake = pure ? last_ : op,
                     .view_of = fresh ? kNoValue : state.now});
      problem_.ops[op].outputs.push_back(tensors_[tensor]);
    }
    if (fresh) {
      state.now = tensors_[tensor];
      state.recipe = pure ? 1 : 0;
      state.step = step_;
    }
    refer(tensor);
  }

  // An interval: what is kept was referred to until then.
  void set_held(Value& value) const {
    const State& state = storages_[index(value.storage)];
    const bool lost = value.maker == kNobody || value.last_remake < state.released;
    if (rule_ == LetGo::StaysIfRemakable && lost && state.kept == UINT32_MAX)
      value.last_stay = state.released == 0 ? 0 : state.released - 1;
    if (value.view_of != kNoValue) return;
    const Stage end = value.changed_by == kNobody ? last_ + 1 : value.changed_by + 1;
    const Stage stuck = value.maker == kNobody ? value.appears : value.last_remake + 1;
    const Stage there = value.maker == kNobody ? value.appears : value.appears + 1;
    value.first_held = std::max(there, std::min(stuck, state.kept));
    value.end_held = std::min(end, state.kept != UINT32_MAX ? last_ + 1 : state.released);
    if (value.first_held >= value.end_held) value.first_held = value.end_held = 0;
  }

  [[nodiscard]] OpSignature signature_of(const TraceOp& op) const {
    std::uint64_t digest = 0xCBF29CE484222325u;
    const auto add = [&](std::uint64_t number) { digest = (digest ^ number) * 0x100000001B3u; };
    for (TensorId input : trace_.inputs_of(op)) add(index(input));
    for (std::uint32_t position : trace_.mutated_by(op)) add(position + (std::uint64_t{1} << 32));
    for (const TraceTensor& output : trace_.outputs_of(op)) {
      add(static_cast<std::uint64_t>(output.alias_of) + (std::uint64_t{1} << 33));
      add(static_cast<std::uint64_t>(trace_.storages[index(output.storage)].size.n));
    }
    if (op.scratch > Bytes{}) add(static_cast<std::uint64_t>(op.scratch.n));
    return {trace_.names[op.name], digest};
  }

  const Trace& trace_;
  LetGo rule_;
  std::vector<State> storages_;
  std::vector<ValueId> tensors_;  // fresh ones, and views that are lost alone
  Problem problem_;
  Stage last_ = 0;
  std::uint32_t step_ = 0;
  Bytes used_;
};

}  // namespace

Problem problem_of(const Trace& trace, LetGo rule) { return Builder{trace, rule}.build(); }

Floor floor_of(const Problem& problem) {
  std::vector<Bytes> change(problem.end() + 2);  // of what is held, from stage to stage
  for (const Value& value : problem.values) {
    change[value.first_held] += value.size;
    change[value.end_held] -= value.size;
  }
  const Bytes elsewhere = problem.tier ? problem.tier->capacity : Bytes{};
  Floor floor;
  Bytes held;
  for (Stage stage = 0; stage <= problem.end(); ++stage) {
    held += change[stage];
    Bytes sum, beside = held;
    const auto count = [&](ValueId id) {
      sum += problem[id].size;
      if (problem[id].held_in(stage)) beside -= problem[id].size;
    };
    if (stage < problem.end()) {
      for (ValueId input : problem.ops[stage].inputs) count(input);
      for (ValueId output : problem.ops[stage].outputs)
        if (problem[output].change_of == kNoValue) count(output);
      sum += problem.ops[stage].scratch;
    }
    sum += std::max(Bytes{}, beside - elsewhere);
    if (stage >= problem.start.first && sum > floor.budget) floor = {sum, stage};
  }
  return floor;
}

std::string place_of(const Problem& problem, std::uint32_t op) {
  if (op >= problem.ops.size()) return "the end of the trace";
  return fmt::format("op {} ({})", op, problem.ops[op].name);
}

std::optional<std::string> first_difference(const Problem& problem,
                                            const std::vector<OpSignature>& ops) {
  const std::size_t both = std::min(problem.signatures.size(), ops.size());
  for (std::size_t i = 0; i < both; ++i) {
    const OpSignature &ours = problem.signatures[i], &theirs = ops[i];
    if (ours == theirs) continue;
    if (ours.name != theirs.name)
      return fmt::format("op {} is {} in the trace and {} in the schedule", i, ours.name,
                         theirs.name);
    return fmt::format("op {} ({}) reads or makes something else in the schedule", i, ours.name);
  }
  if (problem.signatures.size() != ops.size())
    return fmt::format("the trace has {} ops and the schedule is for {}", problem.signatures.size(),
                       ops.size());
  return std::nullopt;
}

}  // namespace weir::plan
