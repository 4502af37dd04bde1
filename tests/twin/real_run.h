#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/future.h"
#include "twin/contents.h"
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
};

// Runs a trace through the manager, event by event, so that its state can be looked at in between.
class RealRun final : private Executor {
 public:
  RealRun(const Trace& trace, const RunOptions& options);

  // After an event that ran out of budget or was broken off, no other may follow.
  void apply(std::size_t event);
  [[nodiscard]] bool stopped() const { return status_ != "ok"; }
  [[nodiscard]] Snapshot snapshot() const;
  [[nodiscard]] const Manager& manager() const { return *manager_; }
  // Ops that read other bytes than they should.
  [[nodiscard]] const std::vector<std::uint32_t>& spoiled() const { return spoiled_; }

 private:
  struct BrokenOff {};

  [[nodiscard]] Nanos now() const override { return clock_; }
  void evict(StorageId storage) override;

  void run(TraceEvent event);
  void add_constant(TensorId tensor);
  void run_op(std::uint32_t op);
  void keep(TensorId tensor);
  void restore(Ticket& ticket);
  void launch(std::uint32_t op, Ticket& ticket);
  [[nodiscard]] Bytes size_of(const TraceTensor& tensor) const;
  [[nodiscard]] StorageLine line_of(StorageId storage) const;
  [[nodiscard]] std::vector<StorageId> in_place(Place place) const;

  const Trace& trace_;
  RunOptions options_;
  Contents contents_;
  std::optional<sim::TraceFuture> future_;
  std::unique_ptr<Policy> policy_;
  std::optional<Manager> manager_;
  std::vector<Pin> kept_;
  Nanos clock_, recompute_;
  std::uint64_t replays_ = 0;
  std::string status_ = "ok";
  std::vector<std::uint32_t> rerun_, spoiled_;
  std::vector<StorageId> freed_;
};

}  // namespace weir::twin
