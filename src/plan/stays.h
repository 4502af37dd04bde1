#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/problem.h"
#include "plan/retention.h"
#include "plan/spans.h"
#include "plan/traffic.h"

namespace weir::plan {

// What a value's copy in the tier is for. It goes when the stage begins that its being away does,
// and its copy back begins when the stage after does. All stages from the offload on have it, on
// the device or in the tier.
struct Copy {
  std::vector<Span> away = {};  // stages in which the tier only has it, ascending
  Stage offload = kNobody;  // at whose beginning the copy begins; none: it is there at the start
  std::uint32_t order = 0;  // of those that begin at once, the least is first

  bool operator==(const Copy&) const = default;
};

// What a Retention says, for steps of thousands of ops: by value the spans of stages at whose
// beginning it is there, and by stage what follows from them: the ops that run, their cost, and the
// most bytes there are. A change is felt in the few stages that touch the value; in the others it
// is a number of bytes more or less.
class Stays {
 public:
  // Everything stays until its last use.
  explicit Stays(const Problem& problem);

  [[nodiscard]] const Problem& problem() const { return *problem_; }
  // With what has to be waited for.
  [[nodiscard]] Nanos cost() const { return copied_.empty() ? cost_ : cost_ + traffic().waited(); }
  [[nodiscard]] Bytes peak(Stage stage) const { return {there_[stage] + above_[stage]}; }
  // Ascending; without the stage's own op.
  [[nodiscard]] std::span<const std::uint32_t> reruns(Stage stage) const { return reruns_[stage]; }
  // The first stage after this one in which the op runs again; none: kNobody.
  [[nodiscard]] Stage next_rerun(std::uint32_t op, Stage after) const;
  [[nodiscard]] bool keeps(Stage stage, ValueId value) const;
  [[nodiscard]] std::span<const Span> spans(ValueId value) const { return spans_[index(value)]; }
  // From the first span's first stage to the last one's last; empty (the last one before the first)
  // if there is none.
  [[nodiscard]] Span hull(ValueId value) const { return hulls_[index(value)]; }
  // The last stage before this one in which the value was there; none: kNobody.
  [[nodiscard]] Stage last_there(Stage before, ValueId value) const;

  // The stages around this one, at whose beginning the value is there, in which it could be away:
  // after one that reads or makes it, up to the next that reads it. Nothing if it must stay.
  [[nodiscard]] std::optional<Span> gap_at(Stage stage, ValueId value) const;
  // The same for being away in the tier, whether or not it must stay.
  struct CopyGap {
    Stage first;      // its copy may begin with
    Stage end;        // in which it is read, or the first in which it need not be anywhere
    bool comes_back;  // it is read
  };
  [[nodiscard]] std::optional<CopyGap> copy_gap_at(Stage stage, ValueId value) const;
  // Where it could be in the tier at the end, if it may be in it at both ends.
  [[nodiscard]] std::optional<CopyGap> end_gap(ValueId value) const;
  // The first stage from this one on with an op that reads it; none: kNobody.
  [[nodiscard]] Stage next_use(Stage from, ValueId value) const;

  // What would run again if the value were dropped in a gap: in the gap's last stage.
  struct Added {
    bool possible = false;
    Nanos cost;                            // above the most asked for: at least so much
    std::vector<std::uint32_t> ops = {};   // those that do not run there now
    std::vector<ValueId> depends_on = {};  // nothing changes while these and the stage do not
  };
  [[nodiscard]] Added added_by_drop(ValueId value, Span gap, Nanos most);
  // What that does there to the bytes; dearer to find out.
  struct Effect {
    Bytes peak;
    // Nothing could make these there; they would have to stay until then.
    std::vector<ValueId> lacking = {};
  };
  [[nodiscard]] Effect effect_of_drop(ValueId value, Span gap);

  void drop(ValueId value, Span span);
  // What was in the tier then is not any more.
  void keep(ValueId value, Span span);
  // In a gap, to the tier; a copy that it has already does, or begins with the stage given.
  void put_away(ValueId value, Span away, Stage offload);
  // False if a stage lacks what nothing can make, or the tier has no room.
  [[nodiscard]] bool sound() const {
    return unsound_ == 0 && (copied_.empty() || traffic().fits());
  }

  [[nodiscard]] const Copy& copy(ValueId value) const { return copies_[index(value)]; }
  // Those with a copy.
  [[nodiscard]] std::span<const ValueId> copied() const { return copied_; }
  [[nodiscard]] std::optional<Span> away_at(Stage stage, ValueId value) const;
  [[nodiscard]] bool begins_away(ValueId value) const;
  // On the device when the step ends, if it is not away then.
  [[nodiscard]] bool must_come_back(ValueId value) const {
    return problem_->repeats && (*problem_)[value].held_in(problem_->end()) && !may_end_away(value);
  }
  // Of a storage that may be in the tier at both ends, given one of the two: the version that it
  // begins with and that which it ends with; none otherwise.
  struct Ends {
    ValueId first = kNoValue, last = kNoValue;
  };
  [[nodiscard]] Ends ends_of(ValueId value) const;
  [[nodiscard]] const Traffic& traffic() const;
  [[nodiscard]] Nanos stage_cost(Stage stage) const { return stage_cost_[stage]; }

  // What happened since is undone in the opposite order.
  [[nodiscard]] std::size_t mark() const { return journal_.size(); }
  void undo(std::size_t mark);

  // Grows when the stage's runs change, and when a value's spans do.
  [[nodiscard]] std::uint64_t version(Stage stage) const { return stage_version_[stage]; }
  [[nodiscard]] std::uint64_t version(ValueId value) const { return value_version_[index(value)]; }
  [[nodiscard]] std::uint64_t clock() const { return clock_; }

  // Done so far, in about nanoseconds; the same on every machine.
  [[nodiscard]] std::int64_t work() const { return work_ + traffic_.work(); }

  [[nodiscard]] Plan plan(Bytes budget) const;
  [[nodiscard]] Retention retention() const;

 private:
  struct Change {
    ValueId value;
    Span span;
    std::vector<Span> before;
    Copy copy;
  };
  struct Walked {
    Nanos cost;              // of running ops again
    std::int64_t above = 0;  // most bytes there are, less what is there when the stage begins
  };

  // The spans, if nothing is dropped.
  [[nodiscard]] std::vector<Span> all_of(ValueId value) const;
  void keep_what_lacks();
  // Was it there at the start, or from its first run on?
  [[nodiscard]] bool begins_by_itself(Stage first, ValueId value) const;
  void replace(ValueId value, std::vector<Span> spans, Copy copy, Span changed);
  void note_repeats();
  void list_copied(ValueId value, bool yes);
  void drop_views(ValueId value, Span away);
  void match_ends(ValueId value);
  // Without what cannot be, its spans being these.
  [[nodiscard]] Copy possible(ValueId value, Copy copy, const std::vector<Span>& spans) const;
  [[nodiscard]] Stage previous_use(Stage before, ValueId value) const;
  [[nodiscard]] bool comes_back(Stage stage, ValueId value) const;
  [[nodiscard]] bool goes_away(Stage stage, ValueId value) const;
  [[nodiscard]] bool may_end_away(ValueId value) const;
  void count(ValueId value, const std::vector<Span>& spans, std::int64_t sign);
  void touch(ValueId value, Span changed);
  void touch(ValueId value, const Copy& copy);
  void touch(Stage stage);
  void refresh();
  void evaluate(Stage stage);
  [[nodiscard]] Stage next_read(Stage from, ValueId value) const;
  [[nodiscard]] Stage previous_read(Stage before, ValueId value) const;

  // The ops that run in a stage if the value given is away when it begins: in `runs_`, with what
  // nothing can make in `lacking_`.
  void find_runs(Stage stage, ValueId away);
  void provide(Stage stage, ValueId value, ValueId away);
  void ask_readers(Stage stage, ValueId away, const auto& ask);
  [[nodiscard]] bool there(Stage stage, ValueId value, ValueId away) const;
  [[nodiscard]] bool is_held(Stage stage, ValueId value) const;  // on the device
  [[nodiscard]] bool stays_after(Stage stage, ValueId value) const;
  [[nodiscard]] bool can_make(Stage stage, ValueId value) const;
  Walked walk(Stage stage, ValueId away);
  void note_needs();
  [[nodiscard]] bool needed_after(std::uint32_t position, ValueId value) const;

  friend class StaysEmitter;

  const Problem* problem_;
  std::vector<std::vector<Span>> spans_;            // by value, ascending
  std::vector<Span> hulls_;                         // by value
  std::vector<std::vector<ValueId>> views_;         // by value
  std::vector<std::vector<ValueId>> begins_;        // by stage: made again in the one before
  std::vector<std::vector<ValueId>> held_from_;     // by stage
  std::vector<std::vector<std::uint32_t>> reruns_;  // by stage
  std::vector<std::vector<Stage>> rerun_stages_;    // by op, ascending
  std::vector<std::int64_t> there_, above_;         // by stage
  std::vector<Nanos> stage_cost_;
  std::vector<bool> stage_lacks_, at_start_;
  std::vector<std::uint64_t> stage_version_, value_version_;
  std::uint64_t clock_ = 0;
  std::int64_t work_ = 0;
  Nanos cost_;
  std::size_t unsound_ = 0;
  std::vector<Change> journal_;
  std::vector<Copy> copies_;     // by value
  std::vector<ValueId> copied_;  // ascending
  std::vector<ValueId>
      partner_;  // by value: the storage's other end, if it may be in the tier then
  std::uint32_t next_order_ = 0;
  mutable Traffic traffic_;
  mutable bool stale_ = false;  // the traffic
  std::vector<Stage> dirty_;
  std::vector<bool> is_dirty_;
  // Scratch of find_runs and walk.
  std::vector<std::uint32_t> runs_, pending_;
  std::vector<ValueId> asked_, lacking_;
  std::vector<std::uint64_t> seen_;  // by op
  std::uint64_t search_ = 0;
  std::vector<std::uint64_t> need_stamp_;  // by value
  std::vector<std::uint32_t> last_need_;
};

}  // namespace weir::plan
