#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weir/schedule.h"
#include "weir/tier.h"
#include "weir/trace.h"
#include "weir/types.h"

namespace weir::plan {

// Ops are numbered as in the trace. *Stage* t is all that runs from the end of op t-1's first run
// to the end of op t's; the last stage, numbered as one op more would be, ends the trace.
using Stage = std::uint32_t;

enum class ValueId : std::uint32_t {};
inline constexpr ValueId kNoValue{UINT32_MAX};
inline constexpr std::uint32_t kNobody = UINT32_MAX;  // no op

// What an op makes and others read: a storage as it was after so many changes in place, or a view
// that is lost with its storage (ViewRule::Rerun).
struct Value {
  StorageId storage;
  Bytes size;                          // a view has none of its own
  std::uint32_t maker = kNobody;       // the op; a constant has none
  Stage appears = 0;                   // when it is first there: its maker's, or a constant's
  Stage last_remake = 0;               // may be made again up to this stage (a constant: never)
  ValueId view_of = kNoValue;          // of a view: the value that has its bytes
  ValueId change_of = kNoValue;        // the value whose bytes the maker changed to make this one
  std::uint32_t changed_by = kNobody;  // the op that makes its next version, where this one ends
  Stage last_stay = kNobody;           // may not be there when a later stage begins
  // Must be there while the ops of these stages run: a constant in use, a kept result, or what the
  // program refers to and nothing could bring back. Equal: no stage. With a tier, a copy in it does
  // as well (not for a view: it is lost with its storage).
  Stage first_held = 0, end_held = 0;
  std::vector<std::uint32_t> users = {};  // ops that read it or one of its views, ascending

  [[nodiscard]] bool held_in(Stage stage) const { return first_held <= stage && stage < end_held; }
  // The last stage at whose beginning it may be there.
  [[nodiscard]] Stage end() const { return std::min(changed_by, last_stay); }
};

struct ProblemOp {
  std::string name;
  Phase phase = Phase::Forward;
  Nanos cost;
  Bytes scratch = {};                 // taken while it runs, beside its outputs
  std::vector<ValueId> inputs = {};   // distinct; for a view also the value that has its bytes
  std::vector<ValueId> outputs = {};  // distinct; what it changes in place too
};

// The state in which planning begins, if not at the beginning of the trace.
struct Start {
  std::uint32_t first = 0;                // the next op to run for the first time
  std::vector<ValueId> resident = {};     // beside what is held
  std::vector<StorageId> offloaded = {};  // the tier has a copy

  bool operator==(const Start&) const = default;
};

struct TierSpec {
  Link link;
  Bytes capacity;
};

// A trace as a planner sees it: ops over values. Base cost and peak are those of `weir replay`.
struct Problem {
  std::string source;
  std::vector<ProblemOp> ops;
  std::vector<Value> values;
  std::vector<Bytes> storages;  // sizes
  std::vector<OpSignature> signatures;
  Nanos base_cost;
  Bytes peak;  // with room for everything
  Start start = {};
  std::optional<TierSpec> tier = {};
  // Of a step that comes again and again, with a tier: the storages that may be in it at both ends.
  // A schedule begins with the evictions of those that are, for nothing, and ends with a copy of
  // each in the tier; all else that is held ends on the device. Without: it may end in the tier.
  std::optional<std::vector<StorageId>> repeats = {};

  [[nodiscard]] Stage end() const { return static_cast<Stage>(ops.size()); }  // the last stage
  [[nodiscard]] const Value& operator[](ValueId id) const { return values[index(id)]; }
};

// May what the program has let go of stay, for what is made from it? The runtime does not keep what
// nothing could make again.
enum class LetGo : std::uint8_t { Stays, StaysIfRemakable };

[[nodiscard]] Problem problem_of(const Trace& trace, LetGo rule = LetGo::Stays);

// No budget below this can do, in whatever order ops run: an op, what it reads and makes, and what
// is held meanwhile and has no room in the tier must fit at once. `op` sets it (the number of ops:
// what is held at the end).
struct Floor {
  Bytes budget;
  std::uint32_t op = 0;
};
[[nodiscard]] Floor floor_of(const Problem& problem);

// "op 17 (relu)", or "the end of the trace".
[[nodiscard]] std::string place_of(const Problem& problem, std::uint32_t op);

// Where a schedule's trace differs first from the problem's, in words, or nothing.
[[nodiscard]] std::optional<std::string> first_difference(const Problem& problem,
                                                          const std::vector<OpSignature>& ops);

}  // namespace weir::plan
