#pragma once

#include <memory>

#include "weir/manager.h"

namespace weir::core {

class State;
struct Job;

// In which order, and holding what, the missing inputs of a job come back.
class RestoreSteps {
 public:
  virtual ~RestoreSteps() = default;

  // The job's inputs are known; pins what is resident.
  virtual void start(State& state, Job& job) = 0;
  // The next op to run again, or null when the job's own op can run: its inputs are pinned then.
  virtual const OpRecord* next(State& state, Job& job) = 0;
  // Something must go, and the policy's choice costs `dearest` to bring back (State::price;
  // infinity if it has none): unpins something that the job holds and had better go instead, if
  // there is such.
  virtual StorageId give_way(State& /*state*/, Job& /*job*/, double /*dearest*/) {
    return kNoStorage;
  }
  // The job is over, or given up.
  virtual void finish(State& /*state*/, Job& /*job*/) {}
};

std::unique_ptr<RestoreSteps> make_restore_steps(RestoreOrder order);

}  // namespace weir::core
