#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/problem.h"
#include "plan/spans.h"

namespace weir::plan {

class Stays;

// The copies of stays beside their ops: when each is on its way, and what has to wait for it. Where
// a stage begins, copies to the tier begin first, then what goes away goes, which waits for its
// copy; then copies from the tier begin. A reader waits for what it reads. One copy at a time is on
// its way in each direction, in the order in which they begin.
class Traffic {
 public:
  struct Event {
    Stage stage;
    std::uint32_t order;
    ValueId value;
  };

  void recount(const Stays& stays);

  [[nodiscard]] Nanos waited() const { return waited_; }
  [[nodiscard]] bool fits() const { return fits_; }  // into the tier
  [[nodiscard]] Bytes tier_peak() const { return tier_peak_; }
  // Moves at the beginning of stages, ascending.
  [[nodiscard]] std::span<const Event> forgets() const { return forgets_; }
  [[nodiscard]] std::span<const Event> offloads() const { return offloads_; }
  [[nodiscard]] std::span<const Event> prefetches() const { return prefetches_; }

  // Where a new copy to the tier would not delay others, nor be delayed: the stage with which it
  // may begin, from the one given on, and the first one that begins when it is done.
  struct Slot {
    Stage begin, end;
  };
  [[nodiscard]] Slot slot_for_write(Bytes size, Stage from) const;
  // The last stage with which a copy from the tier may begin to be there when the one given begins,
  // not delaying others; the first of all if there is none.
  [[nodiscard]] Stage slot_for_read(Bytes size, Stage by) const;
  [[nodiscard]] bool has_room(Bytes size, Span stages) const;

  [[nodiscard]] std::int64_t work() const { return work_; }

 private:
  struct Busy {
    Nanos begin, end;
  };
  struct Journey {  // of a value
    Nanos copied, arrives;
  };

  void clear(const Stays& stays);
  void list(const Stays& stays);
  void list(const Stays& stays, ValueId value);
  void count_tier(const Problem& problem);
  void run(const Stays& stays);
  void begin_stage(Stage stage);
  [[nodiscard]] Nanos end_of_stage(const Stays& stays, Stage stage);
  void wait_until(Nanos time);

  const Problem* problem_ = nullptr;
  std::vector<Event> forgets_, offloads_, leaves_, prefetches_, landings_;
  std::vector<std::int64_t> in_tier_;  // bytes by stage
  std::vector<Nanos> begins_;          // by stage
  std::vector<Busy> writer_, reader_;
  std::vector<Journey> journeys_;  // by value
  std::size_t next_offload_ = 0, next_leave_ = 0, next_prefetch_ = 0, next_landing_ = 0;
  Nanos clock_, waited_, writer_free_, reader_free_;
  bool fits_ = true;
  Bytes tier_peak_;
  std::int64_t work_ = 0;
};

}  // namespace weir::plan
