#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "weir/graph.h"
#include "weir/ledger.h"
#include "weir/types.h"

namespace weir::core {

class State;

// An op that waits for its inputs.
struct Frame {
  enum Kind : std::uint8_t {
    Own,     // the job's own op, or the tensor it wants
    Rescue,  // what must be safe before the job's own op changes a storage
    Replay,  // an op run again because the frame below misses its output
  };
  Kind kind;
  bool gave_way = false;  // something it held was evicted for an op above it
  bool firm = false;      // it gave way before: what it holds now stays
  OpId op = kNoOp;
  TensorId target{};                // Replay: the tensor it is run for
  std::uint32_t first_missing = 0;  // its missing inputs are Job::missing from here on
  std::uint32_t cursor = 0;         // the one to see to next
  std::uint32_t first_pin = 0;      // its pins are Job::pins from here on
};

// What a ticket stands for.
struct Job {
  OpId op = kNoOp;     // none: a tensor is only accessed
  TensorId wanted{};   // the tensor accessed
  bool waits = false;  // something must be restored before its own op
  bool declared = false;
  bool launched = false;  // a replay was handed out and has not been taken as done
  OpRecord handed_out{};  // that replay
  std::vector<StorageId> mutated;
  std::vector<TensorId> rescue;  // to be restored, and then stuck, before the op changes its inputs
  std::vector<StorageId> doomed;  // evicted, referenced by nobody, not restorable after the change
  std::vector<std::optional<Charge>> delivered;  // the bytes of the running op's outputs
  std::vector<StorageId> storages;               // of the outputs that were declared
  std::vector<StorageId> targets;  // of the outputs of the replay; kNoStorage: not wanted

  std::vector<Frame> stack;  // innermost last
  std::vector<TensorId> missing;
  std::vector<StorageId> pins;  // kNoStorage: given up
  std::vector<OpId> listed;     // ops that were to run; lean order only

  void hold(State& state, StorageId storage);
  // Unpins what the frame holds, in the order of its op's inputs.
  void let_go(State& state, const Frame& frame);
};

}  // namespace weir::core
