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
  void set_budget(Bytes budget);
  Bytes reclaim_bytes(Bytes size);
  void evict(StorageId storage);
  // Copies what is resident and pinned by no one else to a tier. False: no tier takes it.
  bool back_up(StorageId storage);
  [[nodiscard]] std::vector<TensorId> retain_evicted();
  // Brings back what a tier has.
  void fetch(StorageId storage);
  // Copies beside ops (ahead.cpp): what the policy wants copied now; of these tensors those that
  // are on their way back, as far as the tier gives them; all that are under way, both ways.
  void copy_ahead();
  void receive(std::span<const TensorId> tensors);
  void settle();
  // An op record is used by a job, or no longer.
  void hold(OpId op) { graph.hold(op); }
  void drop(OpId op);
  void pin(StorageId storage);
  void unpin(StorageId storage);
  // An op that reads it is about to run; it has run, or will not.
  void await(StorageId storage);
  void stop_awaiting(StorageId storage);
  // It can never be restored again: it is stuck if resident.
  void lose_recipe(StorageId storage);
  TensorId add_constant(Charge bytes, const Manager::Named& named);

  // The program's ops.
  void begin(Job& job, const OpCall& call);
  TensorId declare(Job& job, std::span<const Output> outputs, Nanos cost);
  void finish_rescue(Job& job);
  void finish_first_run(Job& job, Bytes scratch);
  // A replay: `target` is the tensor it was run for.
  void finish_replay(Job& job, OpId op, TensorId target);
  // The op has run and holds its inputs no longer: they may be needed by nothing now.
  void banish_inputs(OpId op);
  void give_up(Job& job);

  void retain(TensorId tensor);
  void release(TensorId tensor);
  void end_step();
  // At the end of a call: what turned out to be needed by nothing dies.
  void bury_orphans();
  void check() const;

  const OpRecord* next(Job& job);
  void start_access(Job& job, TensorId tensor, Access access);
  void finish_access(Job& job);
  Job& new_job();
  void recycle(Job& job);

 private:
  void note(StorageId storage, Change change);
  [[nodiscard]] bool evictable(const Storage& s) const;
  [[nodiscard]] Place place_of(const Storage& s) const;
  void place(StorageId storage);
  void enter(StorageId storage);
  void wake();
  // False: there is nothing left that could go.
  bool reclaim_one(Bytes need);
  [[nodiscard]] Bytes reserve() const;
  bool reclaim_for_reserve(Bytes need);
  void reclaim(StorageId storage, bool by_plan = false);
  [[nodiscard]] bool had_better_be_offloaded(StorageId storage);
  bool offload(StorageId storage);
  void discard_copy(StorageId storage);
  void save(StorageId storage);
  bool finish_saving(StorageId storage);
  bool bring(StorageId storage);
  void begin_arrival(StorageId storage, Charge bytes);
  void finish_arrival(StorageId storage);
  void cancel_arrival(StorageId storage);
  bool receive(StorageId storage);
  bool reclaim_spare();
  bool cancel_last_arrival();
  void notice_copies();
  void find_homes();
  void become_frugal();
  void free_bytes(StorageId storage, Residency next);
  [[nodiscard]] bool reads_the_same(OpId op) const;
  [[nodiscard]] bool wants_output(const OpRecord& op, const Tensor& output) const;
  [[nodiscard]] bool half_restores(StorageId storage, TensorId target) const;
  void reject_rest(Job& job);
  void adopt(Job& job, const OpRecord& op, std::uint32_t output, TensorId target, bool first);
  void adopt_all(Job& job, OpId op, TensorId last, bool first);
  void kill(StorageId storage);
  void start_restoring(Job& job);
  // In-place changes.
  void find_readers(std::vector<StorageId> sources);
  void prepare_mutation(Job& job);
  void complete_mutation(Job& job);
  void stop_changing(const Job& job);
  void lose_old_version(StorageId storage);
  // What nothing can need any more.
  void suspect(StorageId storage) { suspects_.push_back(storage); }
  [[nodiscard]] bool orphaned(StorageId storage) const;
  [[nodiscard]] bool buries() const;
  void let_go(StorageId storage);
  void try_retire(StorageId storage);
  void bury();
  // Deallocation by banishing.
  [[nodiscard]] bool needed_again(StorageId storage) const;
  void try_banish(StorageId storage);

  Policy& policy_;
  Executor& executor_;
  Pool pool_;   // the candidates
  Pool spent_;  // lean order: could be candidates, but nothing is known that will want them
  std::vector<Charge> charges_;  // by storage: the bytes of the resident ones
  graph::Marks seen_;
  std::vector<StorageId> search_;
  struct Readers {
    std::vector<StorageId> present;           // their bytes are somewhere
    std::vector<StorageId> evicted;           // and the program references them
    std::vector<StorageId> ghosts;            // evicted, and nobody references them
  } readers_;                                 // what find_readers() found
  std::vector<StorageId> saving_, arriving_;  // in the order in which they began; some have ended
  Ahead ahead_;
  std::vector<StorageId> homeless_;  // no tier had room for them
  std::vector<StorageId> suspects_;  // may be needed by nothing since something about them changed
  std::vector<StorageId> graves_;    // dead; their ids are given back when no job can know them
  std::uint32_t step_ = 0;
  Nanos position_;    // the time of the program's ops so far, not counting those run again
  Nanos spent_time_;  // on ops run again and on transfers, as they were measured before
  std::uint64_t placings_ = 0;
  std::size_t restorers_ = 0;  // jobs that wait for something to be restored
  bool awake_ = false;         // something had to be reclaimed: the pools are kept from then on
  bool frugal_;
  bool reached_ = false;  // the budget was, since it was set
  std::unique_ptr<RestoreSteps> restore_;
  Job* restoring_ = nullptr;  // the job whose ops are run again now; at most one
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<Job*> idle_jobs_;
};

}  // namespace weir::core
