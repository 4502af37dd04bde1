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
    Bytes margin = {};               // better not used
    Bytes reserve = {};              // to stay free while the plan is followed
    std::optional<Reach> tier = {};  // what goes may also be copied there
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

  // When the op has run: what is in the tier only; what begins to be copied there, and back.
  [[nodiscard]] bool away_after(std::uint32_t op, std::uint32_t number) const;
  [[nodiscard]] std::span<const std::uint32_t> saved_after(std::uint32_t op) const {
    return saved_[op];
  }
  [[nodiscard]] std::span<const std::uint32_t> brought_after(std::uint32_t op) const {
    return brought_[op];
  }
  // What is in the tier when the step begins, and ends.
  [[nodiscard]] std::span<const std::uint32_t> away_at_start() const { return away_at_start_; }
  [[nodiscard]] std::size_t storages() const { return carried_.size(); }  // numbered
  // What was there before the step that was planned: it is known before the step touches it.
  [[nodiscard]] StorageId carried(std::uint32_t number) const {
    return number < carried_.size() ? carried_[number] : kNoStorage;
  }

  [[nodiscard]] Bytes reserve() const { return reserve_; }  // as it was asked for
  // What the plan adds to the step's own time, at most.
  [[nodiscard]] Nanos added() const { return added_; }

  // As saved (archive.h). Throws BadInput if it is no plan that could be followed.
  static Guide load(ArchiveReader& archive);
  template <typename Archive, typename Self>
  static void fields(Archive& archive, Self& self) {
    archive(self.digests_, self.added_, self.reserve_, self.stays_, self.away_, self.leaves_,
            self.saved_, self.brought_, self.reads_, self.away_at_start_, self.carried_);
  }

 private:
  // Some numbers for each of many.
  class Rows {
   public:
    Rows() = default;
    explicit Rows(const std::vector<std::vector<std::uint32_t>>& rows);
    [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t row) const;
    // Of a row of first and last ones: is this between two of them?
    [[nodiscard]] bool covers(std::size_t row, std::uint32_t stage) const;
    [[nodiscard]] std::size_t size() const { return ends_.size(); }
    [[nodiscard]] bool sound() const;
    template <typename Archive, typename Self>
    static void fields(Archive& archive, Self& self) {
      archive(self.ends_, self.items_);
    }

   private:
    std::vector<std::uint32_t> ends_, items_;
  };

  static std::optional<Guide> make(const StepLog& step, const Room& room, StepLog::Results results);
  void note_copies(std::span<const std::uint32_t> numbers, const plan::Stays& stays,
                   std::vector<std::vector<std::uint32_t>>& leaves);
  Guide() = default;
  Guide(const StepLog& step, std::span<const std::uint32_t> numbers, const plan::Stays& stays);

  std::vector<std::uint64_t> digests_;  // by op
  Nanos added_;
  Bytes reserve_;
  Rows stays_, away_;     // by number: where each stay begins and ends; ascending
  Rows leaves_;           // by op: numbers
  Rows saved_, brought_;  // by op: numbers
  std::vector<std::uint32_t> away_at_start_;
  std::vector<StorageId> carried_;  // by number
  Rows reads_;                      // by number: ops, ascending
};

}  // namespace weir::pilot
