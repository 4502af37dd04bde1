#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>

namespace weir::libtorch {

enum class OpKind : std::uint8_t {
  Metadata,    // touches no bytes: a view, a change of shape
  Decomposes,  // made of other ops, which come to us one by one
  Splits,      // works on lists of tensors, one after the other, in one kernel
  Computes,
};

// What we need to know about an operator. Its schema says most of it; the rest is in tables.
struct OpTraits {
  std::optional<c10::OperatorHandle> op;
  OpKind kind = OpKind::Computes;
  std::uint64_t number = 0;  // the same for the same operator in every process
  bool recomputable = true;  // running it again gives the same bytes, if its inputs are the same
  bool trusted = true;       // it writes only what its schema says
  bool introduces = false;   // its input was made just now, for it alone: what torch.tensor reads
  std::int16_t generator = -1;           // which argument is the random generator
  std::int16_t training = -1;            // liars: the argument that says whether they write
  std::vector<std::uint8_t> mutated;     // by argument: the schema says that it is written
  std::vector<std::uint8_t> secret;      // by argument: it is written though the schema is silent
  std::vector<std::uint8_t> tensors;     // by argument: it takes tensors
  std::vector<std::uint8_t> told;        // by argument: no tensor, but recorded
  std::vector<std::uint8_t> shape_only;  // by argument: only its shape is read
};

// Looked up once per operator.
const OpTraits& traits_of(const c10::OperatorHandle& op);

}  // namespace weir::libtorch
