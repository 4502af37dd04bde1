#include "pilot/step_log.h"

#include <algorithm>
#include <string>

#include "trace/builder.h"

namespace weir::pilot {

void StepLog::mix(std::uint64_t word) {
  digest_ ^= word;
  digest_ *= 0x9E3779B97F4A7C15u;
  digest_ ^= digest_ >> 32;
}

void StepLog::restart(const View& view) {
  ops_.clear();
  inputs_.clear();
  mutated_.clear();
  known_.clear();
  released_.clear();
  digest_ = kSeed;
  used_at_start_ = view.used;
  places_.assign(view.graph.storages(), {});
  for (std::uint32_t i = 0; i < view.graph.storages(); ++i) {
    const Storage& s = view.graph[StorageId{i}];
    if (s.where() == Residency::Dead || s.where() == Residency::Pending) continue;
    places_[i] = {.carried = true, .resident = s.resident()};
  }
}

StepLog::Place& StepLog::place_of(StorageId storage) {
  if (index(storage) >= places_.size()) places_.resize(index(storage) + 1);
  return places_[index(storage)];
}

std::uint32_t StepLog::number_of(StorageId storage) const {
  return index(storage) < places_.size() ? places_[index(storage)].number : kNone;
}

std::uint32_t StepLog::add(const Known& known) {
  known_.push_back(known);
  return static_cast<std::uint32_t>(known_.size() - 1);
}

// What has no number yet was not made in this step.
std::uint32_t StepLog::number(const Graph& graph, StorageId storage) {
  Place& place = place_of(storage);
  if (place.number == kNone) {
    place.number = add({.storage = storage,
                        .size = graph[storage].size,
                        .constant = true,
                        .resident = place.resident || !place.carried,
                        .carried = place.carried,
                        .appears = place.carried ? 0 : ops()});
    mix(static_cast<std::uint64_t>(graph[storage].size.n));
  }
  return place.number;
}

void StepLog::begin(const Graph& graph, const OpRecord& op,
                    std::span<const std::uint32_t> mutated) {
  Op& logged = ops_.emplace_back();
  logged.id = op.id;
  logged.kind = op.kind;
  logged.phase = op.phase;
  logged.pure = op.pure;
  logged.first_input = static_cast<std::uint32_t>(inputs_.size());
  logged.inputs = op.inputs;
  logged.first_mutated = static_cast<std::uint32_t>(mutated_.size());
  logged.mutated = static_cast<std::uint32_t>(mutated.size());
  mix(op.kind);
  mix((std::uint64_t{op.inputs} << 32) | static_cast<std::uint64_t>(op.phase));
  for (TensorId input : graph.inputs(op)) {
    inputs_.push_back(number(graph, graph[input].storage));
    mix(inputs_.back());
  }
  for (std::uint32_t position : mutated) {
    mutated_.push_back(position);
    mix(std::uint64_t{position} << 32);
  }
  logged.digest = digest_;
}

StepLog::Op* StepLog::find(OpId id) {
  const auto found =
      std::find_if(ops_.rbegin(), ops_.rend(), [&](const Op& op) { return op.id == id; });
  return found == ops_.rend() ? nullptr : &*found;
}

// Views are what they are views of.
void StepLog::declare(const Graph& graph, const OpRecord& op) {
  Op* logged = find(op.id);
  if (logged == nullptr) return;
  logged->cost = op.cost;
  logged->first_output = static_cast<std::uint32_t>(known_.size());
  for (std::uint32_t i = 0; i < op.outputs; ++i) {
    const Tensor& output = graph[TensorId{index(op.first_output) + i}];
    if (!output.fresh) continue;
    const Bytes size = graph[output.storage].size;
    place_of(output.storage) = {
        .number = add({.storage = output.storage, .size = size, .appears = ops()})};
    ++logged->outputs;
    mix(static_cast<std::uint64_t>(size.n));
  }
}

void StepLog::end(const OpRecord& op, Bytes scratch) {
  Op* logged = find(op.id);
  if (logged == nullptr) return;
  logged->scratch = scratch;
  logged->id = kNoOp;
}

void StepLog::add_constant(StorageId storage) { place_of(storage) = {}; }

void StepLog::release(const Graph& graph, StorageId storage) {
  Place& place = place_of(storage);
  if (place.number == kNone && !place.carried) return;  // it came and went unused
  const std::uint32_t released = number(graph, storage);
  if (known_[released].released != kNone) return;
  known_[released].released = ops();
  released_.push_back(released);
}

std::vector<std::uint64_t> StepLog::digests() const {
  std::vector<std::uint64_t> all;
  for (const Op& op : ops_) all.push_back(op.digest);
  return all;
}

std::vector<StorageId> StepLog::carried() const {
  std::vector<StorageId> all;
  for (const Known& known : known_) all.push_back(known.carried ? known.storage : kNoStorage);
  return all;
}

StepLog::Numbered StepLog::trace(Results results) const {
  Numbered made;
  trace::TraceBuilder builder{ViewRule::Keep, "a step"};
  std::vector<TensorId> tensors(known_.size());
  const auto appear = [&](std::uint32_t number) {
    tensors[number] = builder.constant(known_[number].size);
    made.numbers.push_back(number);
  };
  Bytes rest = used_at_start_;
  for (std::uint32_t i = 0; i < known_.size(); ++i) {
    if (known_[i].carried && known_[i].resident) rest -= known_[i].size;
    if (known_[i].carried) appear(i);
  }
  if (rest > Bytes{}) {
    builder.constant(rest);
    made.numbers.push_back(kNone);
  }
  std::uint32_t next_known = 0;  // the other constants come in the order of numbers
  auto next_released = released_.begin();
  const auto release_before = [&](std::uint32_t op) {
    for (; next_released != released_.end() && known_[*next_released].released <= op;
         ++next_released)
      if (known_[*next_released].appears <= op) builder.release(tensors[*next_released]);
  };
  std::vector<TensorId> inputs;
  std::vector<trace::Output> outputs;
  for (std::uint32_t number_of_op = 0; number_of_op < ops_.size(); ++number_of_op) {
    const Op& op = ops_[number_of_op];
    release_before(number_of_op);
    inputs.clear();
    outputs.clear();
    for (std::uint32_t i = 0; i < op.inputs; ++i) {
      const std::uint32_t number = inputs_[op.first_input + i];
      while (next_known <= number) {
        const Known& known = known_[next_known];
        if (known.constant && !known.carried) appear(next_known);
        ++next_known;
      }
      inputs.push_back(tensors[number]);
    }
    for (std::uint32_t i = 0; i < op.outputs; ++i)
      outputs.push_back({.size = known_[op.first_output + i].size});
    const TensorId first =
        builder.op({.name = std::to_string(op.kind),
                    .phase = op.phase,
                    .cost = op.cost,
                    .recomputable = op.pure,
                    .inputs = inputs,
                    .mutated = std::span{mutated_}.subspan(op.first_mutated, op.mutated),
                    .outputs = outputs,
                    .scratch = op.scratch});
    for (std::uint32_t i = 0; i < op.outputs; ++i) {
      tensors[op.first_output + i] = TensorId{index(first) + i};
      made.numbers.push_back(op.first_output + i);
    }
  }
  release_before(ops());
  for (std::uint32_t i = 0; results == Results::Stay && i < known_.size(); ++i)
    if (!known_[i].constant && known_[i].released == kNone) builder.keep(tensors[i]);
  made.trace = std::move(builder).finish();
  return made;
}

}  // namespace weir::pilot
