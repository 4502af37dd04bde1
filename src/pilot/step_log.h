#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weir/policy.h"
#include "weir/trace.h"

namespace weir::pilot {

// What the program did since its last step ended. Storages are numbered as the step comes to know
// them, so two steps that do the same have the same log, whatever ids they were given.
class StepLog {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // A step begins, with what is there now.
  void restart(const View& view);

  void begin(const Graph& graph, const OpRecord& op, std::span<const std::uint32_t> mutated);
  void declare(const Graph& graph, const OpRecord& op);
  void end(const OpRecord& op, Bytes scratch);
  void add_constant(StorageId storage);
  void release(const Graph& graph, StorageId storage);

  [[nodiscard]] std::uint32_t ops() const { return static_cast<std::uint32_t>(ops_.size()); }
  [[nodiscard]] std::size_t storages() const { return known_.size(); }  // numbered
  // Of all that happened so far; costs and scratch do not count.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }
  // What it was when each op had begun.
  [[nodiscard]] std::vector<std::uint64_t> digests() const;
  // kNone: the step has not come to know it.
  [[nodiscard]] std::uint32_t number_of(StorageId storage) const;
  // kNoStorage: it is gone.
  [[nodiscard]] StorageId storage_of(std::uint32_t number) const {
    const StorageId storage = known_[number].storage;
    return number_of(storage) == number ? storage : kNoStorage;
  }

  // The step as a trace of its own. What was there before and is of no use in it counts as well.
  struct Numbered {
    Trace trace;
    std::vector<std::uint32_t> numbers;  // by storage of the trace; kNone: not numbered
  };
  enum class Results : std::uint8_t {
    Stay,   // what outlives the step is there at its end
    MayGo,  // it need not be
  };
  [[nodiscard]] Numbered trace(Results results = Results::Stay) const;
  [[nodiscard]] bool released(std::uint32_t number) const {
    return known_[number].released != kNone;
  }
  // What was there before the step, by number; kNoStorage for all else.
  [[nodiscard]] std::vector<StorageId> carried() const;

 private:
  static constexpr std::uint64_t kSeed = 0xCBF29CE484222325u;

  struct Op {
    OpId id;  // while it is on its way
    std::uint64_t kind = 0, digest = 0;
    Phase phase = Phase::Forward;
    Nanos cost;
    Bytes scratch;
    bool pure = true;
    std::uint32_t first_input = 0, inputs = 0, first_mutated = 0, mutated = 0;
    std::uint32_t first_output = 0, outputs = 0;  // numbers
  };
  struct Known {
    StorageId storage;
    Bytes size;
    bool constant = false, resident = false;  // when the step began, or it appeared
    bool carried = false;                     // it was there when the step began
    std::uint32_t appears = 0;                // ops that had begun
    std::uint32_t released = kNone;
  };
  struct Place {
    std::uint32_t number = kNone;
    bool carried = false, resident = false;
  };

  Place& place_of(StorageId storage);
  std::uint32_t number(const Graph& graph, StorageId storage);
  std::uint32_t add(const Known& known);
  [[nodiscard]] Op* find(OpId id);
  void mix(std::uint64_t word);

  std::vector<Op> ops_;
  std::vector<std::uint32_t> inputs_, mutated_;
  std::vector<Known> known_;             // by number
  std::vector<std::uint32_t> released_;  // numbers, in the order of their release
  std::vector<Place> places_;            // by storage
  Bytes used_at_start_;
  std::uint64_t digest_ = kSeed;
};

}  // namespace weir::pilot
