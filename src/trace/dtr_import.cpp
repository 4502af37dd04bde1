#include "trace/dtr_import.h"

#include <utility>

#include <fmt/format.h>

#include "trace/message.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

constexpr std::size_t kBytesPerEvent = 80;  // of the logs DTR's authors published, a little less
constexpr Nanos kStart{1};                  // simrd's clock begins there

}  // namespace

DtrImport::DtrImport(std::string source, std::size_t log_bytes)
    : builder_{ViewRule::Rerun, std::move(source), kStart}, names_{log_bytes} {
  builder_.reserve(log_bytes / kBytesPerEvent + 16);
}

void DtrImport::constant(Slot name) {
  expect(Awaiting::Instruction);
  constant_ = name;
  awaiting_ = Awaiting::SizeOfConstant;
}

void DtrImport::call(std::string_view op, std::span<const Slot> args, std::span<const Slot> results,
                     Nanos cost) {
  expect(Awaiting::Instruction);
  gather_inputs(args);
  for (Slot result : results)
    if (names_.is_bound(result))
      throw BadInput(fmt::format("result {} of CALL is defined already; give it a new name",
                                 quoted(names_.text(result))));
  enter_phase_of(op);
  pending_name_.assign(op);
  pending_cost_ = cost;
  results_.assign(results.begin(), results.end());
  outputs_.clear();
  awaiting_ = Awaiting::SizeOfResult;
  if (results.empty()) make_pending_op();
}

void DtrImport::memory(Slot name, Bytes size) {
  if (awaiting_ == Awaiting::SizeOfResult) {
    expect_name(results_[outputs_.size()], name);
    outputs_.push_back({.size = size});
    awaiting_ = Awaiting::AliasOfResult;
    return;
  }
  expect(Awaiting::SizeOfConstant);
  expect_name(constant_, name);
  names_.bind(name, builder_.constant(size));
  awaiting_ = Awaiting::Instruction;
}

void DtrImport::alias(Slot name, std::int64_t input) {
  expect(Awaiting::AliasOfResult);
  expect_name(results_[outputs_.size() - 1], name);
  if (input < kFresh || input >= static_cast<std::int64_t>(inputs_.size()))
    throw BadInput(fmt::format("ALIAS {} is no index into the {} ARGS of the CALL; use -1 for none",
                               input, inputs_.size()));
  outputs_.back().view_of = static_cast<std::int32_t>(input);
  awaiting_ = Awaiting::SizeOfResult;
  if (outputs_.size() == results_.size()) make_pending_op();
}

void DtrImport::make_pending_op() {
  TensorId tensor = builder_.op({.name = pending_name_,
                                 .phase = phase_,
                                 .cost = pending_cost_,
                                 .inputs = inputs_,
                                 .outputs = outputs_});
  for (Slot result : results_) {
    if (names_.is_bound(result))
      throw BadInput(
          fmt::format("CALL lists result {} twice; list it once", quoted(names_.text(result))));
    names_.bind(result, tensor);
    tensor = TensorId{index(tensor) + 1};
  }
  awaiting_ = Awaiting::Instruction;
}

// Copy on write: each mutated argument gets a storage of its own, and its name moves there.
void DtrImport::mutate(std::string_view op, std::span<const Slot> args,
                       std::span<const std::uint32_t> positions, Nanos cost) {
  expect(Awaiting::Instruction);
  gather_inputs(args);
  outputs_.clear();
  for (std::uint32_t position : positions) {
    if (position >= args.size())
      throw BadInput(fmt::format("MUTATE {} is no index into its {} ARGS; count them from 0",
                                 position, args.size()));
    outputs_.push_back({.size = builder_.storage_size(inputs_[position])});
  }
  enter_phase_of(op);
  TensorId result = builder_.op(
      {.name = op, .phase = phase_, .cost = cost, .inputs = inputs_, .outputs = outputs_});
  for (std::uint32_t position : positions) {
    TensorId old = names_.tensor(args[position]);
    names_.bind(args[position], result);
    builder_.release(old);
    result = TensorId{index(result) + 1};
  }
}

void DtrImport::copy(Slot to, Slot from) {
  expect(Awaiting::Instruction);
  if (names_.is_bound(to))
    throw BadInput(fmt::format("COPY to {}, which is defined already; use COPY_FROM",
                               quoted(names_.text(to))));
  TensorId tensor = defined(from);
  builder_.retain(tensor);
  names_.bind(to, tensor);
}

void DtrImport::copy_from(Slot to, Slot from) {
  expect(Awaiting::Instruction);
  TensorId old = defined(to), tensor = defined(from);
  builder_.release(old);
  builder_.retain(tensor);
  names_.bind(to, tensor);
}

void DtrImport::release(Slot name) {
  expect(Awaiting::Instruction);
  if (names_.is_bound(name)) builder_.release(names_.tensor(name));
}

void DtrImport::annotate(std::string_view text) {
  expect(Awaiting::Instruction);
  if (text != "BACKWARD") return;
  builder_.all_forward();  // some ops of forward are named after their backward
  phase_ = Phase::Backward;
}

// What is still held when the log ends is what training was for: gradients, loss, prediction.
Trace DtrImport::finish(std::size_t lines) && {
  expect(Awaiting::Instruction);
  for (Slot name : names_.bound_in_order())
    if (builder_.references(names_.tensor(name)) > 0) builder_.keep(names_.tensor(name));
  return std::move(builder_).finish(lines);
}

void DtrImport::throw_unexpected() const {
  switch (awaiting_) {
    case Awaiting::SizeOfConstant:
      throw BadInput("CONSTANT must be followed by its MEMORY; the log is cut or damaged");
    case Awaiting::SizeOfResult:
      throw BadInput(
          "CALL must be followed by MEMORY and ALIAS of each result, and a MEMORY is "
          "missing; the log is cut or damaged");
    case Awaiting::AliasOfResult:
      throw BadInput(
          "CALL must be followed by MEMORY and ALIAS of each result, and an ALIAS is "
          "missing; the log is cut or damaged");
    case Awaiting::Instruction:
      break;
  }
  throw BadInput(
      "MEMORY and ALIAS must follow the CONSTANT or CALL that they describe; "
      "the log is cut or damaged");
}

void DtrImport::expect_name(Slot expected, Slot found) const {
  if (expected != found) [[unlikely]]
    throw BadInput(fmt::format("this line must describe {}, not {}; the log is cut or damaged",
                               quoted(names_.text(expected)), quoted(names_.text(found))));
}

TensorId DtrImport::defined(Slot name) const {
  if (!names_.is_bound(name)) [[unlikely]]
    throw BadInput(fmt::format("tensor {} is used before its definition; the log is cut or damaged",
                               quoted(names_.text(name))));
  return names_.tensor(name);
}

void DtrImport::gather_inputs(std::span<const Slot> args) {
  inputs_.clear();
  for (Slot name : args) inputs_.push_back(defined(name));
}

void DtrImport::enter_phase_of(std::string_view op) {
  if (phase_ == Phase::Forward && op.find("backward") != std::string_view::npos)
    phase_ = Phase::Backward;
}

}  // namespace weir::trace
