#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "trace/builder.h"

namespace weir::trace {

// Writes a random but valid program, op by op. It holds references like a program's variables do:
// `held_` has one entry per reference, so whatever is in it may be used.
class RandomProgram {
 public:
  struct Limits {
    std::uint32_t most_live;
    Bytes most_bytes;
    Nanos most_cost;
    bool may_mutate;
  };

  RandomProgram(ViewRule views, std::string source, std::uint64_t seed, const Limits& limits);

  // An op under construction; spans of OpCall point into it.
  struct Draft {
    const char* name = "";
    Phase phase = Phase::Forward;
    bool recomputable = true;
    std::vector<TensorId> inputs = {};
    std::vector<std::uint32_t> mutated = {};
    std::vector<Output> outputs = {};
  };

  Draft draft(Phase phase);
  std::vector<TensorId> run(const Draft& draft);  // its outputs; their references are the caller's
  TensorId constant();
  Output fresh();
  Output fresh_or_view(std::size_t inputs);

  [[nodiscard]] bool chance(std::uint64_t part, std::uint64_t of) { return rng_.chance(part, of); }
  std::uint64_t below(std::uint64_t bound) { return rng_.below(bound); }
  [[nodiscard]] bool holds_any() const { return !held_.empty(); }
  TensorId pick();  // needs holds_any()
  void hold(TensorId tensor) { held_.push_back(tensor); }
  bool retain(TensorId tensor);  // for the caller; false if nobody has a reference any more
  void change_references();      // retain or release a few, and never hold more than most_live
  void release_held(std::uint64_t part, std::uint64_t of);  // each with this probability
  void release_last() { release_at(held_.size() - 1); }
  void keep_held();

  TraceBuilder& builder() { return builder_; }
  Trace finish() && { return std::move(builder_).finish(); }

 private:
  void draft_inputs(Draft& draft);
  void draft_mutation(Draft& draft);
  void release_at(std::size_t place);

  TraceBuilder builder_;
  base::Rng rng_;
  Limits limits_;
  std::vector<TensorId> held_;
};

}  // namespace weir::trace
