#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/builder.h"
#include "trace/dtr_names.h"

namespace weir::trace {

// What the instructions of a DTR log mean, in the terms of a Trace: the same as in simrd, DTR's
// simulator. Told one instruction at a time; throws BadInput (without a place) on nonsense.
class DtrImport {
 public:
  using Slot = DtrNames::Slot;

  DtrImport(std::string source, std::size_t log_bytes);

  DtrNames& names() { return names_; }

  void constant(Slot name);  // its size follows in a `memory`
  void call(std::string_view op, std::span<const Slot> args, std::span<const Slot> results,
            Nanos cost);  // followed by `memory` and `alias` for each result
  void memory(Slot name, Bytes size);
  void alias(Slot name, std::int64_t input);  // -1 = owns its storage
  void mutate(std::string_view op, std::span<const Slot> args,
              std::span<const std::uint32_t> positions, Nanos cost);
  void copy(Slot to, Slot from);
  void copy_from(Slot to, Slot from);
  void release(Slot name);
  void annotate(std::string_view text);

  Trace finish(std::size_t lines) &&;

 private:
  enum class Awaiting : std::uint8_t { Instruction, SizeOfConstant, SizeOfResult, AliasOfResult };

  void expect(Awaiting state) const {
    if (awaiting_ != state) [[unlikely]]
      throw_unexpected();
  }
  [[noreturn]] void throw_unexpected() const;
  void expect_name(Slot expected, Slot found) const;
  TensorId defined(Slot name) const;
  void gather_inputs(std::span<const Slot> args);
  void enter_phase_of(std::string_view op);
  void make_pending_op();

  TraceBuilder builder_;
  DtrNames names_;
  Phase phase_ = Phase::Forward;

  Awaiting awaiting_ = Awaiting::Instruction;
  Slot constant_{};
  std::string pending_name_;  // the CALL whose results are being described
  Nanos pending_cost_;
  std::vector<TensorId> inputs_;
  std::vector<Slot> results_;
  std::vector<Output> outputs_;
};

}  // namespace weir::trace
