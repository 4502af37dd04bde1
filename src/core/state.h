#pragma once

#include <memory>
#include <vector>

#include "core/job.h"
#include "core/pool.h"
#include "core/restore.h"
#include "graph/marks.h"
#include "weir/manager.h"

namespace weir::core {

// Everything the manager knows, and the small moves all larger ones are made of. After each of its
// public calls the invariants of check() hold.
class State {
 public:
  State(const Options& options, Policy& policy, Executor& executor);

  const Options options;
  Graph graph;
  Ledger ledger;
  Counters counters;

  // Can an op read it now?
  [[nodiscard]] bool available(TensorId tensor) const;
  // Can this op, replayed, read it now? It may change a storage that is only half restored.
  [[nodiscard]] bool ready(TensorId tensor, OpId op) const;
  // The op to run next for a tensor that is not available.
  [[nodiscard]] OpId op_to_restore(TensorId tensor) const;
  [[nodiscard]] View view() const;
  [[nodiscard]] Nanos now() const { return executor_.now(); }
  // Lean order: do all that saves memory, also where it may cost time. From the start if the policy
  // counts lineage, otherwise from the moment on when nothing is left for it to choose.
  [[nodiscard]] bool frugal() const { return frugal_; }

  // What bringing it back would cost for each of its bytes, with all that would have to come back
  // before it; from below if that is very much.
  [[nodiscard]] double price(StorageId storage);

  Charge charge(Bytes size);
  void evict(StorageId storage);
  void pin(StorageId storage);
  void unpin(StorageId storage);
  // An op that reads it is about to run; it has run, or will not.
  void await(StorageId storage);
  void stop_awaiting(StorageId storage);
  // It can never be restored again: it is stuck if resident.
  void lose_recipe(StorageId storage);
  TensorId add_constant(Charge bytes);

  // The program's ops.
  void begin(Job& job, const OpCall& call);
  TensorId declare(Job& job, std::span<const Output> outputs, Nanos cost);
  void finish_rescue(Job& job);
  void finish_first_run(Job& job);
  // A replay: `target` is the tensor it was run for.
  void finish_replay(Job& job, OpId op, TensorId target);
  // The op has run and holds its inputs no longer: they may be needed by nothing now.
  void banish_inputs(OpId op);
  void give_up(Job& job);

  void retain(TensorId tensor);
  void release(TensorId tensor);
  void end_step();
  void check() const;

  const OpRecord* next(Job& job);
  void start_access(Job& job, TensorId tensor);
  Job& new_job();
  void recycle(Job& job);

 private:
  void note(StorageId storage, Change change);
  [[nodiscard]] Place place_of(const Storage& s) const;
  void place(StorageId storage);
  void reclaim_one(Bytes need);
  void reclaim(StorageId storage);
  void become_frugal();
  void free_bytes(StorageId storage, Residency next);
  void adopt(Job& job, const OpRecord& op, std::uint32_t output, TensorId target, bool first);
  void adopt_all(Job& job, OpId op, TensorId last, bool first);
  void kill(StorageId storage);
  // In-place changes.
  void prepare_mutation(Job& job);
  void complete_mutation(Job& job);
  // Deallocation by banishing.
  [[nodiscard]] bool needed_again(StorageId storage) const;
  void try_banish(StorageId storage);

  Policy& policy_;
  Executor& executor_;
  Pool pool_;   // the candidates
  Pool spent_;  // lean order: could be candidates, but nothing is known that will want them
  std::vector<Charge> charges_;    // by storage: the bytes of the resident ones
  std::vector<StorageId> living_;  // not dead, ascending
  graph::Marks seen_;
  std::vector<StorageId> search_;
  OpId step_begin_{0};  // ops from here on belong to the running step
  bool frugal_;
  std::unique_ptr<RestoreSteps> restore_;
  Job* restoring_ = nullptr;  // the job whose ops are run again now; at most one
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<Job*> idle_jobs_;
};

}  // namespace weir::core
