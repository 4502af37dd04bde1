#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pilot/step_log.h"
#include "weir/types.h"

namespace weir::plan {
class Stays;
}

namespace weir::pilot {

class ArchiveReader;

// A plan for a step as the one who follows it asks: which storages, by their number in the step's
// log, are there from op to op.
class Guide {
 public:
  struct Room {
    Bytes budget;
    Bytes margin = {};  // better not used
    bool tier = false;  // what only the optimizer reads may be offloaded until then
  };
  // Plans the step with plan/fast. Nothing if no schedule was found that keeps the budget.
  static std::optional<Guide> make(const StepLog& step, const Room& room);

  // Is it the step that this is a plan for, as far as it has come?
  [[nodiscard]] bool fits(std::uint32_t op, std::uint64_t digest) const {
    return op < digests_.size() && digests_[op] == digest;
  }
  // Is the storage to be there when the op has run?
  [[nodiscard]] bool stays_after(std::uint32_t op, std::uint32_t number) const;
  // What is there when the op begins and not when it has run.
  [[nodiscard]] std::span<const std::uint32_t> leaves_in(std::uint32_t op) const {
    return leaves_[op];
  }
  // The next op, from this one on, that reads it; UINT32_MAX: none.
  [[nodiscard]] std::uint32_t next_read(std::uint32_t op, std::uint32_t number) const;

  // What is offloaded, if bytes lack, until the optimizer reads it.
  [[nodiscard]] std::span<const StepLog::Idle> idle() const { return idle_; }

  // What the plan adds to the step's own time, at most.
  [[nodiscard]] Nanos added() const { return added_; }

  // As saved (archive.h). Throws BadInput if it is no plan that could be followed.
  static Guide load(ArchiveReader& archive);
  template <typename Archive, typename Self>
  static void fields(Archive& archive, Self& self) {
    archive(self.digests_, self.added_, self.idle_, self.stays_, self.leaves_, self.reads_);
  }

 private:
  // Some numbers for each of many.
  class Rows {
   public:
    Rows() = default;
    explicit Rows(const std::vector<std::vector<std::uint32_t>>& rows);
    [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t row) const;
    [[nodiscard]] std::size_t size() const { return ends_.size(); }
    [[nodiscard]] bool sound() const;
    template <typename Archive, typename Self>
    static void fields(Archive& archive, Self& self) {
      archive(self.ends_, self.items_);
    }

   private:
    std::vector<std::uint32_t> ends_, items_;
  };

  static std::optional<Guide> make(const StepLog& step, const Room& room,
                                   const StepLog::Without& without);
  Guide() = default;
  Guide(const StepLog& step, std::span<const std::uint32_t> numbers, const plan::Stays& stays);

  std::vector<std::uint64_t> digests_;  // by op
  Nanos added_;
  std::vector<StepLog::Idle> idle_;
  Rows stays_;   // by number: where each stay begins and ends; ascending
  Rows leaves_;  // by op: numbers
  Rows reads_;   // by number: ops, ascending
};

}  // namespace weir::pilot
