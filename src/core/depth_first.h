#pragma once

#include "core/job.h"
#include "core/restore.h"

namespace weir::core {

// DTR's order: an op waits with all its resident inputs pinned while the missing ones come back,
// one after the other, each in the same way. What waits is on an explicit stack, innermost last.
class DepthFirst : public RestoreSteps {
 public:
  void start(State& state, Job& job) override;
  const OpRecord* next(State& state, Job& job) override;

 private:
  // What a refinement may add: before an op's inputs are looked at; when its missing ones are
  // known; when it has run again.
  virtual void before_waiting(State& /*state*/, Job& /*job*/, OpId /*op*/) {}
  virtual void order_missing(const State& /*state*/, std::span<TensorId> /*missing*/) {}
  virtual void after_replay(State& /*state*/, OpId /*op*/) {}

  void see_to(State& state, Job& job, TensorId missing);
  void push_own(State& state, Job& job);
  void push(State& state, Job& job, Frame frame);
  void hold_inputs(State& state, Job& job, OpId op);
  void take_back(State& state, Job& job);
  void finish_rescue(State& state, Job& job);
  void finish_replay(State& state, Job& job);
};

}  // namespace weir::core
