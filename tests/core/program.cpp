#include "core/program.h"

#include <algorithm>

namespace weir::core {

std::optional<Choice> Scripted::choose(const View& view, Bytes /*need*/) {
  ++asked;
  std::vector<StorageId> candidates;
  std::ranges::remove_copy(view.slots, std::back_inserter(candidates), kNoStorage);
  for (StorageId wanted : first)
    if (std::ranges::find(candidates, wanted) != candidates.end()) return Choice{wanted};
  const auto oldest = std::ranges::min_element(
      candidates, {}, [&](StorageId id) { return view.graph[id].last_use; });
  if (oldest == candidates.end()) return std::nullopt;
  return Choice{*oldest};
}

TensorId Program::op(const std::vector<TensorId>& inputs, Bytes size, Nanos cost) {
  return run({.inputs = inputs, .mutated = {}}, {{.size = size}}, cost).front();
}

TensorId Program::impure_op(const std::vector<TensorId>& inputs, Bytes size) {
  return run({.inputs = inputs, .mutated = {}, .pure = false}, {{.size = size}}, {1}).front();
}

std::vector<TensorId> Program::op_with(const std::vector<TensorId>& inputs,
                                       std::vector<Output> outputs) {
  return run({.inputs = inputs, .mutated = {}}, std::move(outputs), {1});
}

void Program::change(const std::vector<TensorId>& inputs, Nanos cost) {
  const std::uint32_t mutated[] = {0};
  run({.inputs = inputs, .mutated = mutated}, {}, cost);
}

void Program::change_two(TensorId a, TensorId b) {
  const TensorId inputs[] = {a, b};
  const std::uint32_t mutated[] = {0, 1};
  run({.inputs = inputs, .mutated = mutated}, {}, {1});
}

std::vector<TensorId> Program::run(OpCall call, std::vector<Output> outputs, Nanos cost) {
  call.tag = called_.size();
  called_.push_back({outputs, cost});
  Ticket ticket = manager.begin(call);
  const TensorId first = manager.declare(ticket, outputs, cost);
  restore(ticket);
  launch(outputs, cost, ticket);
  manager.end(std::move(ticket));
  std::vector<TensorId> made;
  for (std::uint32_t i = 0; i < outputs.size(); ++i) made.push_back(TensorId{index(first) + i});
  return made;
}

Pin Program::keep(TensorId tensor) {
  Ticket ticket = manager.begin_access(tensor);
  restore(ticket);
  return manager.end_access(std::move(ticket));
}

void Program::write(TensorId tensor) {
  Ticket ticket = manager.begin_access(tensor, Access::Write);
  restore(ticket);
  const Pin pin = manager.end_access(std::move(ticket));
}

bool Program::offload(StorageId storage) {
  if (broken) throw TierError{"the tier is broken"};
  if (manager.graph()[storage].size > room) return false;
  room -= manager.graph()[storage].size;
  copies.push_back(storage);
  return true;
}

void Program::fetch(StorageId storage) {
  if (broken) throw TierError{"the tier is broken"};
  EXPECT_NE(std::ranges::find(copies, storage), copies.end());
}

void Program::discard_copy(StorageId storage) {
  room += manager.graph()[storage].size;
  std::erase(copies, storage);
}

void Program::evict(TensorId tensor) {
  const Ledger& ledger = manager.ledger();
  policy.first = {manager.graph()[tensor].storage};
  const Charge one_too_many = manager.allocate(ledger.budget() - ledger.used() + 1_B);
  policy.first.clear();
}

Ticket Program::begin(const std::vector<TensorId>& inputs, std::vector<Output> outputs) {
  Ticket ticket = manager.begin({.tag = called_.size(), .inputs = inputs, .mutated = {}});
  manager.declare(ticket, outputs, {1});
  called_.push_back({std::move(outputs), {1}});
  return ticket;
}

void Program::restore(Ticket& ticket) {
  while (const OpRecord* missing = manager.next(ticket)) {
    replayed.push_back(missing->tag);
    const Called& again = called_[missing->tag];
    launch(again.outputs, again.cost, ticket);
  }
}

void Program::launch(const std::vector<Output>& outputs, Nanos cost, Ticket& ticket) {
  for (std::uint32_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].alias_of == kFresh) ticket.deliver(i, manager.allocate(outputs[i].size));
  clock += cost;
}

std::uint32_t Program::all_pins() const {
  std::uint32_t pins = 0;
  for (std::uint32_t i = 0; i < manager.graph().storages(); ++i)
    pins += manager.graph()[StorageId{i}].pins;
  return pins;
}

}  // namespace weir::core
