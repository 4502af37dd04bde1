#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "plan/problem.h"
#include "plan/retention.h"

namespace weir::plan {

// The baselines choose checkpoints among the ops of the forward pass: what these make is kept, and
// what lies between two of them is made again, as a segment, when the backward pass comes to it.

// Forward ops that may be a checkpoint, ascending.
using Candidates = std::vector<std::uint32_t>;

// As if the network were a chain: every forward op that makes bytes.
[[nodiscard]] Candidates linear_candidates(const Problem& problem);
// Ops without which the forward graph falls apart: where a network really is a chain.
[[nodiscard]] Candidates articulation_points(const Problem& problem);

// Gets the schedules of a method that tries several.
using Try = std::function<void(const Retention&)>;

// How often the op runs that does so most often.
[[nodiscard]] std::uint32_t most_runs_of_an_op(const Problem& problem, const Schedule& schedule);

// The cheapest schedule so far that fits the budget.
class Best {
 public:
  // Only schedules in which no op runs more often.
  Best(const Problem& problem, Bytes budget, std::uint32_t most_runs = UINT32_MAX)
      : problem_{problem}, budget_{budget}, most_runs_{most_runs} {}

  void consider(const Retention& retention);

  std::optional<Plan> plan = {};
  std::optional<Retention> retention = {};

 private:
  const Problem& problem_;
  Bytes budget_;
  std::uint32_t most_runs_;
};

// The forward pass in segments: each begins at a checkpoint, the first one at the first op.
class Segments {
 public:
  Segments(const Problem& problem, const std::vector<std::uint32_t>& starts);

  [[nodiscard]] std::size_t count() const { return remade_.size(); }
  [[nodiscard]] std::size_t of(std::uint32_t op) const { return segment_[op]; }
  // The stage in which the segment is made again: its op is the first after the forward pass that
  // reads something of it. Nothing if none does.
  [[nodiscard]] std::optional<Stage> remade(std::size_t segment) const { return remade_[segment]; }

 private:
  std::vector<std::size_t> segment_;  // by op
  std::vector<std::optional<Stage>> remade_;
};

// Keeps a value from its beginning up to this stage.
void keep_until(Retention& retention, const Problem& problem, ValueId value, Stage last);

// All that the method's choice of checkpoints does not decide: gradients stay until their last use,
// what cannot be made again stays, and what is in a segment stays in the forward pass until the
// last forward op that reads it, and then from when the segment is made again to its last use.
void keep_segments(Retention& retention, const Problem& problem, const Segments& segments);

[[nodiscard]] bool is_forward(const Problem& problem, std::uint32_t op);
[[nodiscard]] Stage last_read(const Problem& problem, ValueId value);

}  // namespace weir::plan
