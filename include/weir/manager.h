#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "weir/executor.h"
#include "weir/graph.h"
#include "weir/ledger.h"
#include "weir/policy.h"
#include "weir/trace.h"
#include "weir/types.h"

namespace weir {

// What happens when the program's last reference to a storage goes.
enum class Deallocation : std::uint8_t {
  Ignore,      // nothing: it stays until a policy reclaims it
  EagerEvict,  // its bytes go at once; its recipe stays for whoever needs it
  Banish,      // it dies if nothing evicted needs it, now or when an op that read it has run;
               // what was made from it gets stuck
};

enum class RestoreOrder : std::uint8_t {
  DepthFirst,  // DTR's: every resident argument along the way is held
  Lean,        // only what the next op reads is held
};

struct Options {
  Bytes budget;
  Deallocation deallocation = Deallocation::EagerEvict;
  RestoreOrder restore = RestoreOrder::Lean;
  ViewRule views = ViewRule::Keep;
  std::uint32_t longest_recipe = 8;  // a storage changed in place more often than this gets stuck
  Bytes smallest{};                  // no policy is asked about storages below this size
  bool recompute = true;             // may evict what has a recipe
  bool offload = false;              // may offload: the executor has a tier
  bool reuse_ids = false;            // ids of what died are given out again
  // Once the budget was reached, one byte in so many had better stay free: see Policy::reserve().
  // 0: none.
  std::int64_t reserve_one_in = 0;
};

// An op about to run. `mutated` are positions among the inputs; a pure op may be run again.
struct OpCall {
  std::uint64_t tag = 0;
  std::span<const TensorId> inputs = {};
  std::span<const std::uint32_t> mutated = {};
  bool pure = true;
  Phase phase = Phase::Forward;
  std::uint64_t kind = 0;  // which operator it is: equal for equal ones
};

struct Output {
  Bytes size;
  std::int32_t alias_of = kFresh;  // position among the inputs of the tensor it is a view of
};

enum class Access : std::uint8_t { Read, Write };

struct Counters {
  std::uint64_t evictions = 0;   // chosen by the policy to make room
  std::uint64_t releases = 0;    // storages given up because the program let go of them
  std::uint64_t recomputes = 0;  // op records run again
  std::uint64_t offloads = 0;    // storages copied to a tier
  std::uint64_t fetches = 0;     // storages copied back
  std::uint64_t scored = 0;      // candidates given a score
};

class Manager;
namespace core {
class State;
struct Job;
}  // namespace core

// One op on its way: what it pins, and what must run before it. Destroying it without end() gives
// up the op: its pins are released and its outputs never exist.
class Ticket {
 public:
  Ticket(Ticket&& other) noexcept;
  Ticket& operator=(Ticket&&) = delete;
  ~Ticket();

  // Must something be restored first? If not, next() need not be asked.
  [[nodiscard]] bool waits() const;
  // The storage of one of the outputs that were declared.
  [[nodiscard]] StorageId storage(std::uint32_t output) const;
  // The storage that the output of the op last returned by next() is wanted for, or kNoStorage.
  [[nodiscard]] StorageId target(std::uint32_t output) const;

  // The bytes of one output of the op that runs now (the last one from next(), or the ticket's
  // own).
  void deliver(std::uint32_t output, Charge bytes);

 private:
  friend class Manager;
  Ticket(Manager& manager, core::Job& job) : manager_{&manager}, job_{&job} {}

  Manager* manager_;
  core::Job* job_;
};

// Keeps a storage resident while it lives.
class [[nodiscard]] Pin {
 public:
  Pin(Pin&& other) noexcept;
  Pin& operator=(Pin&&) = delete;
  ~Pin();

 private:
  friend class Manager;
  Pin(Manager& manager, StorageId storage) : manager_{&manager}, storage_{storage} {}

  Manager* manager_;
  StorageId storage_;
};

// The state machine. It is passive: it is told what happens and says what must happen. Every call
// takes one lock for its own duration; none is held while an op runs.
class Manager {
 public:
  Manager(const Options& options, Policy& policy, Executor& executor);
  ~Manager();

  // Hears what a constant is called before anybody can ask the executor for its bytes.
  using Named = std::function<void(TensorId, StorageId)>;

  // Bytes that came from outside and can never be recomputed. One reference.
  TensorId add_constant(Charge bytes, const Named& named = {});

  // Pins what is resident and lists what must be restored first.
  Ticket begin(const OpCall& op);
  // Says what the op makes and what it cost; once, between begin() and end(), as soon as it is
  // known. Outputs are numbered from the returned id on and have one reference each.
  TensorId declare(Ticket& ticket, std::span<const Output> outputs, Nanos cost);
  // The next op to run before the ticket's own, or null. Takes the previous one as done. From the
  // first call to the one that returns null, no other ticket may ask.
  const OpRecord* next(Ticket& ticket);
  // From any thread. Reclaims until the bytes fit; never launches an op. Throws OutOfBudget.
  Charge allocate(Bytes size);
  // The op ran: adopts its outputs, unpins its inputs. `scratch` is the most that it took at one
  // time beside its outputs, if that is known.
  void end(Ticket ticket, Bytes scratch = {});

  // A tensor is wanted outside of any op: begin, next() until null, then the pin. With
  // Access::Write its bytes may be changed from then on, by whom we do not see.
  Ticket begin_access(TensorId tensor, Access access = Access::Read);
  Pin end_access(Ticket ticket);

  void retain(TensorId tensor);
  void release(TensorId tensor);
  // A training step is over: what nothing can need any more dies.
  void end_step();
  // Gives up at least so many bytes, or all that can go; returns how many.
  Bytes reclaim(Bytes size);
  // Copies a storage that nobody else has pinned to the tier, so that reclaiming it is free and
  // others can read it there. False: no tier takes it.
  bool back_up(const Pin& pin);
  // What the program refers to and is evicted, with one more reference to each.
  [[nodiscard]] std::vector<TensorId> retain_evicted();
  // Waits for all copies to and from the tier that are under way.
  void settle();
  // Reclaims what is above a lower budget, as far as possible.
  void set_budget(Bytes budget);

  [[nodiscard]] StorageId storage_of(TensorId tensor) const;
  [[nodiscard]] std::size_t living_storages() const;
  [[nodiscard]] Counters counters() const;
  [[nodiscard]] const Ledger& ledger() const;
  // The state as it is now. Not to be read while another thread calls the manager.
  [[nodiscard]] const Graph& graph() const;
  [[nodiscard]] View view() const;
  // Verifies the whole state; O(n). Runs after every event when WEIR_CHECK_FULL is set.
  void check() const;
  void reserve(std::size_t tensors, std::size_t ops);

  // For pthread_atfork: nobody is inside between these two.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend class Ticket;
  friend class Pin;
  void give_up(core::Job& job);
  void unpin(StorageId storage);

  mutable std::mutex mutex_;
  std::unique_ptr<core::State> state_;
};

}  // namespace weir
