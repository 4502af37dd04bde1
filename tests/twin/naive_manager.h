#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "twin/disturbance.h"
#include "twin/naive_graph.h"
#include "twin/naive_policy.h"
#include "twin/snapshot.h"

namespace weir::twin {

enum class NaiveDeallocation : std::uint8_t { Ignore, EagerEvict, Banish };
enum class NaiveOrder : std::uint8_t { DepthFirst, Lean };

struct NaiveOptions {
  Bytes budget;
  NaiveDeallocation deallocation = NaiveDeallocation::EagerEvict;
  NaiveOrder order = NaiveOrder::DepthFirst;
  std::uint32_t longest_recipe = 8;
  std::string_view policy = "lru";
  std::uint64_t most_replays = UINT64_MAX;  // the run is broken off when more ops are run again
  Bytes smallest = {};
  bool recompute = true;
  bool only_wanted = false;  // of what a replay makes, only what it is run for is delivered
  std::int64_t reserve_one_in = 0;
  NaiveTier tier = {};
};

// How often the interesting things happened.
struct Coverage {
  std::uint64_t evictions = 0, recomputes = 0, out_of_budget = 0, broken_off = 0;
  std::uint64_t rescues = 0;      // evicted readers restored before a change in place
  std::uint64_t doomed = 0;       // evicted, unreferenced readers that died before one
  std::uint64_t gave_way = 0;     // storages taken from ops that wait
  std::uint64_t taken_back = 0;   // ops that got their inputs back
  std::uint64_t for_reserve = 0;  // storages reclaimed to keep some of the budget free
  std::uint64_t spent = 0;        // spent storages that made room
  std::uint64_t banished = 0;
  std::uint64_t collected = 0;     // storages that died at the end of a step
  std::uint64_t in_place = 0;      // changes in place replayed
  std::uint64_t half_dropped = 0;  // siblings dropped because more than this op makes them
  std::uint64_t offloads = 0, fetches = 0;
  std::uint64_t for_free = 0;      // backed storages reclaimed
  std::uint64_t homeless = 0;      // storages that the tier had no room for
  std::uint64_t died_at_once = 0;  // storages that died before their step ended
  std::uint64_t retired = 0;       // storages that died although something was made from them
  std::uint64_t aged = 0;          // storages from an earlier step that lost their recipe
  std::uint64_t writes = 0;        // of tensors, by whom the manager does not see
};

// The manager's rules without any of its means: one recursion, plain lists, every sum made anew. It
// consumes the events of a trace and keeps its own clock.
class NaiveManager {
 public:
  NaiveManager(const Trace& trace, const NaiveOptions& options);

  // The event, and what comes before it.
  // After an event that ran out of budget or was broken off, no other may follow.
  void apply(std::span<const Disturbance> before, TraceEvent event);
  [[nodiscard]] bool stopped() const { return status_ != "ok"; }
  [[nodiscard]] Snapshot snapshot() const;
  [[nodiscard]] const Coverage& coverage() const { return coverage_; }

 private:
  // An op that waits for its inputs, or runs.
  struct Waiting {
    std::uint32_t op;
    std::vector<StorageId> held = {};
    bool gave_way = false;
    bool firm = false;  // it gave way before and does not do so again
  };
  enum class Place : std::uint8_t { None, Candidate, Spent };
  struct Stop {};  // thrown when the running event cannot be finished

  // The events.
  void disturb(const Disturbance& disturbance);
  void run(TraceEvent event);
  void add_constant(TensorId tensor);
  void run_op(std::uint32_t op);
  void keep(TensorId tensor);
  void write(TensorId tensor);
  void retain(TensorId tensor);
  void release(TensorId tensor);
  void end_step();
  void give_up(std::string_view why);
  void forget_output(StorageId storage);

  // An op's first run.
  void declare(std::uint32_t op);
  struct Readers {
    std::vector<StorageId> present, evicted, ghosts;
  };
  [[nodiscard]] Readers readers_of(std::vector<StorageId> sources) const;
  void find_old_readers(const std::vector<StorageId>& changed);
  void make_old_readers_safe();
  void change_in_place(std::uint32_t op);
  [[nodiscard]] std::vector<StorageId> changed_by(std::uint32_t op) const;

  // Bringing things back.
  [[nodiscard]] bool available(TensorId tensor) const;
  [[nodiscard]] bool ready(TensorId tensor, std::uint32_t reader) const;
  [[nodiscard]] bool offloaded(TensorId tensor) const;
  [[nodiscard]] std::uint32_t op_to_restore(TensorId tensor) const;
  void restore(TensorId tensor, std::uint32_t reader);
  void run_again(std::uint32_t op, TensorId target);
  [[nodiscard]] bool wants(TensorId output, TensorId target) const;
  void wait_for_inputs(std::uint32_t op);
  void hold_inputs(std::size_t waiting);
  void let_go();
  void adopt_all(std::uint32_t op, TensorId last, bool first);
  void adopt(TensorId tensor, bool first, TensorId target);

  // The lean order.
  void list(std::uint32_t op);
  void unlist(std::uint32_t op);
  void unlist_all();
  [[nodiscard]] Bytes need(std::uint32_t op) const;
  [[nodiscard]] Bytes need_in_order(const std::vector<TensorId>& missing, Bytes held,
                                    Bytes made) const;
  void order_missing(std::vector<TensorId>& missing);
  void become_frugal();
  [[nodiscard]] double price(StorageId storage) const;
  StorageId give_way(StorageId choice);
  [[nodiscard]] bool only_loosely_held(StorageId storage) const;

  // Memory.
  [[nodiscard]] Bytes used() const;
  void launch(std::uint32_t op);
  void allocate(Bytes size, TensorId output);
  void make_room(Bytes size);
  void reclaim_bytes(Bytes size);
  void set_budget(Bytes budget);
  bool reclaim_one();
  [[nodiscard]] Bytes own_reserve() const;
  bool reclaim_for_reserve();
  void reclaim(StorageId storage);
  bool offload(StorageId storage);
  [[nodiscard]] Bytes in_tier() const;
  void fetch(StorageId storage);
  void discard_copy(StorageId storage);
  void evict(StorageId storage);
  void kill(StorageId storage);
  void lose_recipe(StorageId storage);
  [[nodiscard]] bool orphaned(StorageId storage) const;
  void bury_orphans();
  void retire(StorageId storage);
  void banish_if_unneeded(StorageId storage);
  [[nodiscard]] bool needed_again(StorageId storage) const;
  void pin(StorageId storage);
  void unpin(StorageId storage);
  [[nodiscard]] bool complete(StorageId storage) const;
  [[nodiscard]] bool awaited(StorageId storage) const;
  [[nodiscard]] Place place_of(StorageId storage) const;
  void settle();
  void settle(StorageId storage);
  [[nodiscard]] StorageLine line_of(StorageId storage) const;

  NaiveGraph graph_;
  NaiveOptions options_;
  NaivePolicy policy_;
  Coverage coverage_;
  std::string_view status_ = "ok";
  Nanos clock_, recompute_;
  std::uint64_t evictions_ = 0, releases_ = 0, recomputes_ = 0, replays_ = 0;
  std::uint64_t offloads_ = 0, fetches_ = 0;
  std::uint32_t first_op_of_step_ = 0, ops_begun_ = 0, tensors_ = 0;
  std::optional<std::uint32_t> first_run_;  // the op that is not done yet

  std::vector<Place> places_;          // by storage
  std::vector<std::uint64_t> placed_;  // by storage: when it was made or changed its place
  std::uint64_t placings_ = 0;
  std::vector<StorageId> candidates_, spent_;
  std::set<TensorId> defined_;           // ViewRule::Rerun: their op ran since the storage came
  std::map<TensorId, Bytes> delivered_;  // outputs of the running op
  std::vector<Waiting> waiting_;         // outermost first
  Bytes reserve_;
  bool reached_ = false;                 // the budget was
  bool restoring_ = false;               // a replay runs now, or a fetch
  std::vector<TensorId> rescue_;         // readers of the old bytes that must be saved
  std::vector<StorageId> doomed_;        // readers of the old bytes that nobody wants
  bool frugal_;                          // lean: spent storages go first, hungry inputs first
  std::set<std::uint32_t> listed_;       // lean: ops that will run
  std::vector<std::uint32_t> listings_;  // lean: all that were listed, in the order they came up
  std::vector<StorageId> awaited_;       // lean: what they read, once per input
  std::map<std::uint32_t, Bytes> need_;  // lean: as it was when the op was listed
  std::vector<std::uint32_t> rerun_;
  std::vector<StorageId> freed_, died_;
  std::vector<StorageId> homeless_;  // in the order in which the tier had no room for them
  std::set<StorageId> suspects_;     // something about them changed: nothing may need them now
};

}  // namespace weir::twin
