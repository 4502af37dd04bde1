#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/future.h"
#include "twin/contents.h"
#include "twin/disturbance.h"
#include "twin/snapshot.h"
#include "weir/manager.h"
#include "weir/registry.h"

namespace weir::twin {

struct RunOptions {
  Bytes budget;
  Deallocation deallocation = Deallocation::EagerEvict;
  RestoreOrder restore = RestoreOrder::DepthFirst;
  std::uint32_t longest_recipe = 8;
  std::string_view policy = "lru";
  std::uint64_t seed = 0;
  std::uint64_t most_replays = UINT64_MAX;
  // Puts something around the policy, to look on.
  std::unique_ptr<Policy> (*wrap)(std::unique_ptr<Policy>) = nullptr;
  Bytes smallest = {};
  bool recompute = true, offload = false, reuse_ids = false;
  Bytes tier = {};           // what the tier has room for
  Nanos latency = {};        // of a transfer
  Nanos per_byte = {};       // and what it takes besides
  bool only_wanted = false;  // of what a replay makes, only what it is run for is delivered
  std::int64_t reserve_one_in = 0;
  std::vector<Disturbance> disturbances = {};  // ascending
  Plans* plans = nullptr;                      // for policies that plan
  std::uint64_t failing = 0;                   // each so-manieth copy beside ops fails; 0: none
};

// Runs a trace through the manager, event by event, so that its state can be looked at in between.
// All that it tells is in ids of the trace, whatever ids the manager gives.
class RealRun final : private Executor {
 public:
  RealRun(const Trace& trace, const RunOptions& options);

  // The disturbances that come before the event, and the event. After one that ran out of budget or
  // was broken off, no other may follow.
  void apply(std::size_t event);
  [[nodiscard]] bool stopped() const { return status_ != "ok"; }
  [[nodiscard]] Snapshot snapshot() const;
  [[nodiscard]] const Manager& manager() const { return *manager_; }
  [[nodiscard]] std::uint64_t copies_ahead() const { return copies_ahead_; }
  // Ops that read, and writers that found, other bytes than they should.
  [[nodiscard]] const std::vector<std::uint32_t>& spoiled() const { return spoiled_; }

 private:
  struct BrokenOff {};

  [[nodiscard]] Nanos now() const override { return clock_; }
  void evict(StorageId storage) override;
  bool offload(StorageId storage) override;
  void fetch(StorageId storage) override;
  bool begin_offload(StorageId storage) override;
  bool begin_fetch(StorageId storage) override;
  [[nodiscard]] bool copied(StorageId storage) const override;
  bool finish_offload(StorageId storage) override;
  void finish_fetch(StorageId storage) override;
  void discard_copy(StorageId storage) override;
  [[nodiscard]] Nanos transfer_cost(Bytes size) const override;
  void adopted(StorageId storage, std::uint32_t output) override;
  void died(StorageId storage) override;

  void disturb(std::size_t disturbance);
  void run(TraceEvent event);
  void add_constant(TensorId tensor);
  void run_op(std::uint32_t op);
  void keep(TensorId tensor);
  void write(std::size_t disturbance);
  void restore(Ticket& ticket);
  enum class Run : bool { First, Again };
  void launch(std::uint32_t op, Ticket& ticket, Run run);

  // From the trace's ids to the manager's and back.
  [[nodiscard]] TensorId real(TensorId tensor) const { return tensors_[index(tensor)]; }
  [[nodiscard]] StorageId in_trace(StorageId storage) const { return names_[index(storage)]; }
  void name(StorageId real, StorageId storage);

  [[nodiscard]] Bytes size_of(const TraceTensor& tensor) const;
  [[nodiscard]] StorageLine line_of(StorageId storage) const;
  [[nodiscard]] bool available(TensorId tensor) const;
  [[nodiscard]] std::vector<StorageId> in_place(Place place) const;

  const Trace& trace_;
  const RunOptions options_;
  Contents contents_;
  std::optional<sim::TraceFuture> future_;
  Bytes reserve_;
  std::unique_ptr<Policy> policy_;
  std::optional<Manager> manager_;
  std::vector<TensorId> tensors_;    // by tensor of the trace: the manager's
  std::vector<StorageId> storages_;  // by storage of the trace: the manager's, or none any more
  std::vector<StorageId> names_;     // by storage of the manager: the trace's
  std::vector<StorageId> in_tier_;   // storages of the trace
  Bytes tier_used_;
  mutable std::uint64_t polls_ = 0;
  std::uint64_t copies_ahead_ = 0;
  Nanos clock_, recompute_;
  std::uint64_t replays_ = 0;
  std::size_t disturbance_ = 0;  // the next one
  std::string status_ = "ok";
  std::vector<std::uint32_t> rerun_, spoiled_;
  std::vector<StorageId> freed_, died_;
  std::vector<Pin> kept_;  // goes first: all else is there while the last pins go
};

}  // namespace weir::twin
