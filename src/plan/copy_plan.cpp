#include "plan/copy_plan.h"

#include <algorithm>

#include "plan/plan_writer.h"

namespace weir::plan {

bool held_on_device(const Problem& problem, ValueId id, Stage stage) {
  if (!problem.tier || problem[id].view_of != kNoValue) return problem[id].held_in(stage);
  return std::ranges::any_of(
      problem.values, [&](const Value& view) { return view.view_of == id && view.held_in(stage); });
}

namespace {

// Runs what the plan says; what is not wanted on the device goes as soon as that is so.
class CopyEmitter final : public PlanWriter {
 public:
  CopyEmitter(const Problem& problem, const CopyPlan& what)
      : PlanWriter{problem},
        what_{what},
        copy_(problem.storages.size(), kNoValue),
        will_copy_(problem.values.size()) {}

 private:
  void begin() override {
    const Retention all{problem_};
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
      if (all.keeps(stage_, ValueId{i})) put(ValueId{i}, stage_);
    drop_if([&](ValueId now) { return !what_.stays.at(stage_, index(now)); });
    for (StorageId storage : problem_.start.offloaded)
      for (std::uint32_t i = 0; i < problem_.values.size(); ++i)
        if (is_current(problem_.values[i]) && problem_.values[i].storage == storage)
          set_copy(ValueId{i});
  }

  [[nodiscard]] bool is_current(const Value& value) const {
    return value.view_of == kNoValue && value.appears < stage_ && value.changed_by >= stage_;
  }

  void run_stage() override {
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      if (!what_.copies.at(stage_, i)) forget(ValueId{i});
      if (what_.offloads.at(stage_, i)) will_copy_[i] = true;
    }
    let_go(0);
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      if (problem_.values[i].maker != kNobody || problem_.values[i].appears != stage_) continue;
      put(ValueId{i}, stage_);
      let_go(0);
    }
    for (std::uint32_t op = 0; op <= stage_ && op < problem_.end(); ++op)
      if (what_.runs.at(stage_, op)) run(op);
  }

  void came(StorageId storage) override { resident_.push_back(storage); }
  void changed(StorageId storage) override { drop_copy(storage); }

  void forget(ValueId id) {
    will_copy_[index(id)] = false;
    const StorageId storage = problem_[id].storage;
    if (copy_[index(storage)] != id) return;
    move(Move::Forget, storage);
    drop_copy(storage);
  }

  void set_copy(ValueId id) {
    drop_copy(problem_[id].storage);
    copy_[index(problem_[id].storage)] = id;
    tier_used_ += problem_[id].size;
    plan_.tier_peak = std::max(plan_.tier_peak, tier_used_);
  }

  void drop_copy(StorageId storage) {
    ValueId& copy = copy_[index(storage)];
    if (copy != kNoValue) tier_used_ -= problem_[copy].size;
    copy = kNoValue;
  }

  void move(Move what, StorageId storage) {
    plan_.schedule.moves.push_back({what, index(storage)});
  }

  void wait(Nanos time) {
    plan_.waited += time;
    plan_.cost += time;
  }

  void run(std::uint32_t op) {
    for (auto next = what_.fetches.lower_bound({stage_, op, ValueId{0}});
         next != what_.fetches.end() && std::get<0>(*next) == stage_ && std::get<1>(*next) == op;
         ++next)
      fetch(std::get<2>(*next), op);
    compute(op);
    let_go(op + 1);
  }

  void fetch(ValueId id, std::uint32_t op) {
    const StorageId storage = problem_[id].storage;
    if (now_[index(storage)] == id) return;
    move(Move::Fetch, storage);
    wait(transfer_time(problem_[id].size, problem_.tier->link.read));
    put(id, op);
  }

  // Is it to be there from now on, so many ops being done, until it is read, or the stage ends?
  [[nodiscard]] bool needed(ValueId id, std::uint32_t done) const {
    const Value& value = problem_[id];
    for (std::uint32_t user : value.users)
      if (user >= done && user <= stage_ && what_.runs.at(stage_, user))
        return !what_.fetches.contains({stage_, user, id});
    if (done <= stage_ && what_.fetches.contains({stage_, stage_, id})) return false;
    if (what_.stays.at(stage_ + 1, index(id))) return true;
    if (done > stage_) return false;
    const bool has_copy = copy_[index(value.storage)] == id || will_copy_[index(id)];
    return held_on_device(problem_, id, stage_) || (value.held_in(stage_) && !has_copy);
  }

  void let_go(std::uint32_t done) {
    drop_if([&](ValueId now) { return !needed(now, done); });
  }

  template <typename Condition>
  void drop_if(const Condition& goes) {
    std::erase_if(resident_, [&](StorageId storage) {
      const ValueId now = now_[index(storage)];
      if (!goes(now)) return false;
      if (will_copy_[index(now)] && copy_[index(storage)] != now) offload(now);
      evict(storage);
      return true;
    });
  }

  void offload(ValueId id) {
    move(Move::Offload, problem_[id].storage);
    wait(transfer_time(problem_[id].size, problem_.tier->link.write));
    set_copy(id);
  }

  const CopyPlan& what_;
  std::vector<ValueId> copy_;    // by storage: what the tier has a copy of
  std::vector<bool> will_copy_;  // by value: when it goes
  std::vector<StorageId> resident_;
  Bytes tier_used_;
};

}  // namespace

Plan plan_of(const Problem& problem, const CopyPlan& what, Bytes budget) {
  return CopyEmitter{problem, what}.write(budget);
}

}  // namespace weir::plan
