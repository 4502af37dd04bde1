#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <c10/core/StorageImpl.h>
#include <c10/util/intrusive_ptr.h>

#include "libtorch/budget.h"
#include "libtorch/companions.h"
#include "libtorch/memory.h"
#include "libtorch/recipe.h"
#include "libtorch/recorder.h"
#include "tier/queued_tier.h"
#include "weir/errors.h"
#include "weir/executor.h"
#include "weir/manager.h"
#include "weir/plans.h"
#include "weir/policy.h"
#include "weir/tier.h"

namespace weir::libtorch {

// May a storage whose bytes went come back at another address? It saves moving pages, and nobody
// notices who asks a tensor where its bytes are each time.
enum class Addresses : std::uint8_t {
  Auto,  // unless a library of others is there that may remember addresses
  Move,
  Keep,
};

struct RunOptions {
  Bytes budget{};       // zero: see fraction
  double fraction = 0;  // of the logical peak
  Bytes peak{};         // the logical peak, if it is known; zero: it is learned in the first step
  std::string trace = {};  // of the same program, if there is one: it tells the peak and more
  std::string policy = "planned";
  Bytes smallest{32 << 10};
  bool recompute = true;
  std::string tier;  // as tier::parse_tier reads it; empty: the default folder
  bool checksum = false;
  std::string plans = {};  // file of plans from the run before, and for the next; empty: none
  Addresses addresses = Addresses::Auto;
};

struct Stats {
  Bytes budget, logical, logical_peak, committed, peak, foreign;
  Counters counters;
  std::uint64_t steps = 0, ops = 0, faults = 0, escapes = 0, moved = 0;
  std::size_t records = 0, storages = 0;
  Bytes offloaded, fetched;
  pages::Counters pages;
  // In the program's own ops, and making room: reclaiming and finding pages.
  Nanos own, room;
  Nanos recompute, offload, fetch, elapsed;
};

// PyTorch's memory, and the manager that holds it at the budget. There is one in a process, since
// PyTorch's hooks are plain functions.
class Runtime final : public Executor {
 public:
  static Runtime& get();

  // The budget begins. No other thread may compute meanwhile. Throws BadInput.
  void start(const RunOptions& options);
  // The budget ends: nothing goes any more, and what is away comes back when it is touched.
  void stop();
  // For the next run of the program. What cannot be written is told as a warning.
  void save_plans();
  [[nodiscard]] bool managing() const { return core_ != nullptr; }
  [[nodiscard]] bool active() const { return active_.load(std::memory_order_relaxed); }
  [[nodiscard]] const RunOptions& options() const { return options_; }

  void step();
  Bytes reclaim(Bytes size);
  [[nodiscard]] Stats stats() const;

  // PyTorch's allocator.
  void* allocate(std::size_t size);
  void free(void* address);
  void free(Block& block);  // that has a home

  // For ops: the manager's tensor for a block, which is told of it if it is new.
  TensorId tensor_of(Block& block);
  [[nodiscard]] Block* block_at(void* address) { return memory_.find_or_make(address); }
  [[nodiscard]] Block* block_of(c10::StorageImpl& storage);
  // The op that runs has just made it, and nobody else knows it yet.
  void give_home(Block& block, c10::StorageImpl& storage);
  // Counts memory that is not ours against the budget while it lives.
  void see_foreign(c10::StorageImpl& storage);
  void bind(Block& block, TensorId tensor, StorageId storage);
  [[nodiscard]] Manager& manager() { return *core_->manager; }
  RecipePool& recipes() { return recipes_; }
  Recorder& recorder() { return recorder_; }
  // Runs what the ticket waits for.
  void restore(Ticket& ticket);
  void count_op();
  void count_own(Nanos took) { own_ns_.fetch_add(took.n, std::memory_order_relaxed); }
  // For the recorder and for plans: the most that is taken at one time from here on.
  [[nodiscard]] bool measures_scratch() const { return plans_ || recorder_.on(); }
  void start_taking();
  [[nodiscard]] Bytes taken() const;
  // Runs what a program let go of inside an op through the manager, once the op is over.
  void release_freed();

  // Debug mode: what came back is what went.
  void verify(Block& block) const;

  // Raw access.
  Pin access(Block& block, Access access);
  void escape(Block& block);
  // A fault at this address; from the restore thread. False: not ours.
  bool bring_back(void* address);
  [[nodiscard]] bool may_fault_at(const void* address) const;
  void hold(Block& block, bool on);

  // Executor.
  [[nodiscard]] Nanos now() const override { return {clock_.load(std::memory_order_relaxed)}; }
  void evict(StorageId storage) override;
  bool offload(StorageId storage) override;
  void fetch(StorageId storage) override;
  bool begin_offload(StorageId storage) override;
  bool begin_fetch(StorageId storage) override;
  [[nodiscard]] bool copied(StorageId storage) const override;
  bool finish_offload(StorageId storage) override;
  void finish_fetch(StorageId storage) override;
  void discard_copy(StorageId storage) override;
  [[nodiscard]] std::optional<Reach> tier() const override;
  [[nodiscard]] Nanos transfer_cost(Bytes size) const override;
  void adopted(StorageId storage, std::uint32_t output) override;
  void rejected(std::uint32_t output) override;
  void forget(std::uint64_t tag) override;
  void died(StorageId storage) override;
  // Reads the clock, and sets it for the manager.
  Nanos tick();

  // For pthread_atfork. A child cannot recompute, but it can read the tier.
  void back_up_for_child();
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  struct Core {
    std::unique_ptr<Tier> disk;
    std::unique_ptr<tier::QueuedTier> tier;  // null: there is none
    Plans plans;                             // the policy's
    std::unique_ptr<Policy> policy;
    std::unique_ptr<Manager> manager;
  };
  // Of a storage, in the tier.
  struct Copy {
    Slot slot;
    Transfer under_way = {};   // to the tier, or back
    Block* arrives = nullptr;  // back to here, where nobody looks before it is all there
  };
  struct Foreign {
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    Charge charge;
  };

  Runtime();
  Charge charge(Bytes size);
  void make_room(Bytes size);
  void follow_peak();
  void set_budget(Bytes budget);
  void follow_foreign();
  void charge_everything();
  void reset_counts();
  void bring_all_back();
  void drop_core();
  Block& allocate_large(Bytes size);
  Block& take_pages(Bytes size);
  Block* lend(Bytes size);
  void release(Block& block);
  void free_untold(Block& block);
  bool forget_dead_foreign();
  const OpRecord* next(Ticket& ticket);
  void replay(const OpRecord& op, Ticket& ticket);
  void collect_outputs(const Recipe& recipe, torch::jit::Stack& stack, Ticket& ticket);
  void untangle(std::uint32_t output, StorageId storage);
  void take_back(Block& lent);
  void give_up_outputs();
  void take_back_lent();
  [[nodiscard]] bool addresses_move() const;
  [[nodiscard]] bool may_move(const Block& block) const {
    return block.home.known() && addresses_move();
  }
  void look_for_companions();
  void beware_of_strangers();
  void come_back(Block& block);
  void become_bytes_of(StorageId storage, Block& from);
  template <typename Copying>
  bool copy_to_tier(StorageId storage, Copying&& copy);
  void count_offloaded(StorageId storage, Nanos begin);
  void free_discarded();
  [[noreturn]] void fail(const OutOfBudget& error) const;
  void count_logical(std::int64_t bytes);
  void count_taken(std::int64_t bytes);

  RunOptions options_;
  Memory memory_;
  BlockTable blocks_;
  RecipePool recipes_;
  Recorder recorder_;
  std::unique_ptr<Core> core_;
  std::atomic<bool> active_{false};
  bool plans_ = false;  // the policy does
  Companions companions_;
  std::atomic<bool> moving_{false};            // addresses may change at all
  std::atomic<std::uint64_t> still_until_{0};  // but not before this step has ended
  Budget budget_;
  Bytes step_needs_{};  // at least, by the trace; zero: not known
  std::atomic<bool> tier_full_{false};

  std::mutex chunk_mutex_;
  std::unordered_map<std::int64_t, std::vector<Charge>> chunk_charges_;  // by size

  std::mutex cap_mutex_;  // the arena's cap is the budget less what is foreign

  std::mutex foreign_mutex_;
  std::unordered_map<c10::StorageImpl*, Foreign> foreign_;
  std::atomic<std::int64_t> foreign_bytes_{0};

  std::mutex restoring_;          // held while ops are run again
  std::vector<Block*> outputs_;   // of the replay: by output; null: adopted or not there
  std::vector<Block*> lendable_;  // blocks that the replay is to make anew
  std::vector<Pin> faulted_;      // what raw reads brought back, until the step ends
  std::mutex pin_mutex_;          // of the one above
  std::mutex tell_mutex_;
  // Both under the manager's lock.
  std::unordered_map<StorageId, Copy> copies_;
  std::vector<Copy> discarded_;  // while they were on their way to the tier

  std::atomic<std::int64_t> clock_{0};
  std::atomic<std::int64_t> logical_{0}, logical_peak_{0};
  std::atomic<std::int64_t> op_bytes_{0}, op_peak_{0};  // since start_taking()
  std::atomic<std::int64_t> away_{0};         // blocks of the program whose bytes are not in memory
  std::atomic<std::uint64_t> step_began_{0};  // how many ops there had been
  std::atomic<std::uint64_t> ops_{0}, faults_{0}, escapes_{0}, steps_{0};
  std::atomic<bool> short_{false};  // something had to go since the budget began
  std::atomic<std::int64_t> own_ns_{0}, room_ns_{0};
  std::atomic<std::int64_t> recompute_ns_{0}, offload_ns_{0}, fetch_ns_{0};
  std::atomic<std::int64_t> offloaded_{0}, fetched_{0};
  Nanos started_{};
};

// What the calling thread is doing.
struct ThreadState {
  int launching = 0;           // see Launching
  int in_op = 0;               // inside an op that we launched
  bool replaying = false;      // inside an op that is run again
  int reading = 0;             // raw pointers it asks for are only read
  Nanos room;                  // what making room took it, in all
  std::vector<Block*> freed;   // what it let go of inside an op
  std::vector<Pin> read_pins;  // while reading
};
ThreadState& this_thread();

// While it lives nobody on this thread has an address of a tensor that the manager does not know
// of: an op has told all that it reads, or there is none.
class Launching {
 public:
  Launching() { ++this_thread().launching; }
  Launching(const Launching&) = delete;
  Launching& operator=(const Launching&) = delete;
  ~Launching() { --this_thread().launching; }
};

}  // namespace weir::libtorch
