// Follows plans.
//
// Each step is logged. When one has ended that had to give up something, it is planned, and the
// plan is followed as soon as a step does the same again, op for op. Following means: what the plan
// does not want there any more goes first, when bytes are needed. So a plan is never more than
// advice: if it asks for too much, or for the wrong thing, the online policy chooses, and what the
// plan did not foresee is made when it is wanted.
#include "pilot/planned.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pilot/carried.h"
#include "pilot/plan_cache.h"
#include "pilot/planner.h"
#include "pilot/step_log.h"
#include "policy/wrapper.h"

namespace weir::pilot {

namespace {

Bytes share(Bytes whole, std::int64_t of) { return {whole.n / of}; }

class Planned final : public policy::Wrapper {
 public:
  Planned(std::unique_ptr<Policy> online, const PolicyInputs& inputs)
      : Wrapper{std::move(online), static_cast<Changes>(Change::Offered)},
        reserve_one_in_{inputs.reserve_one_in},
        planner_{inputs.background},
        cache_{inputs.plans != nullptr ? inputs.plans->cache() : own_.cache()},
        logging_{cache_.size() > 0} {}
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;
  ~Planned() override { take_plan(); }

  std::optional<Choice> choose(const View& view, Bytes need) override {
    asked_ = true;
    if (budget_ == Bytes{}) learn_budget(view);
    if (guide_ != nullptr) {
      if (const std::optional<StorageId> victim = by_plan(view, Wait::IfNeedBe))
        return Choice{*victim, true};
    }
    const std::optional<Choice> choice = Wrapper::choose(view, need);
    if (guide_ != nullptr && choice) lacked_ += view.graph[choice->victim].size;
    return choice;
  }

  // What is to come back stays on the list until it is on its way.
  void look_ahead(const View& view, Ahead& ahead) override {
    if (guide_ == nullptr) return carried_.look_ahead(view, ahead);
    for (; looked_ <= at_; ++looked_) {
      for (std::uint32_t number : guide_->saved_after(looked_))
        if (const StorageId storage = find(view, number); storage != kNoStorage)
          ahead.save.push_back(storage);
      const std::span<const std::uint32_t> brought = guide_->brought_after(looked_);
      brought_.insert(brought_.end(), brought.begin(), brought.end());
    }
    std::erase_if(brought_, [&](std::uint32_t number) {
      const StorageId storage = find(view, number);
      if (storage == kNoStorage || view.graph[storage].where() != Residency::Offloaded) return true;
      if (view.graph[storage].arriving) return true;
      ahead.bring.push_back(storage);
      return false;
    });
  }
  [[nodiscard]] Bytes reserve() const override {
    return guide_ == nullptr ? Wrapper::reserve() : guide_->reserve();
  }
  std::optional<Choice> spare(const View& view) override {
    if (guide_ == nullptr) return Wrapper::spare(view);
    const std::optional<StorageId> victim = by_plan(view, Wait::Never);
    return victim ? std::optional{Choice{*victim, true}} : std::nullopt;
  }
  void begin(const Graph& graph, const OpRecord& op,
             std::span<const std::uint32_t> mutated) override {
    Wrapper::begin(graph, op, mutated);
    if (!logging_) return;
    if (log_.ops() == 0) own_begin_ = op.position;
    log_.begin(graph, op, mutated);
    carried_.begin(graph, op);
    follow(log_.ops() - 1, log_.digest());
  }
  void declare(const Graph& graph, const OpRecord& op) override {
    Wrapper::declare(graph, op);
    if (logging_) log_.declare(graph, op);
  }
  void end(const OpRecord& op, Bytes scratch) override {
    Wrapper::end(op, scratch);
    if (!logging_) return;
    log_.end(op, scratch);
    own_end_ = op.position + op.cost;
  }
  void add_constant(const Graph& graph, StorageId storage) override {
    Wrapper::add_constant(graph, storage);
    if (logging_) log_.add_constant(storage);
  }
  void release(const Graph& graph, StorageId storage) override {
    Wrapper::release(graph, storage);
    if (logging_) log_.release(graph, storage);
  }
  [[nodiscard]] bool keeps(StorageId storage) const override {
    if (guide_ == nullptr) return Wrapper::keeps(storage);
    const std::uint32_t number = log_.number_of(storage);
    return number != StepLog::kNone && guide_->stays_after(at_, number);
  }
  void note(const Graph& graph, StorageId storage, Change change) override {
    Wrapper::note(graph, storage, change);
    if (change == Change::Offered && guide_ != nullptr) offered_.push_back(storage);
  }
  void end_step(const View& view) override {
    Wrapper::end_step(view);
    take_plan();
    if (logging_ && asked_) plan(view);
    take_plan();
    guide_.reset();
    forget_leaving();
    logging_ = logging_ || asked_;
    asked_ = false;
    lacked_ = {};
    step_began_ = view.now;
    carried_.end_step(view);
    if (logging_) log_.restart(view);
    budget_ = view.budget;
  }

 private:
  struct Attempt {
    int number = 0;
    Trial trial = {};
  };
  static constexpr int kMostAgain = 2;  // plans for one step with more margin
  // A plan for more would take seconds of a core that the program wants.
  static constexpr std::uint32_t kMostOps = 5000;

  bool take_plan() {
    std::optional<Planner::Result> made = planner_.take();
    if (!made) return false;
    const Attempt& tried = attempt_;
    PlanCache::Entry* known = cache_.find(made->step, made->budget);
    if (made->guide == nullptr && known != nullptr)
      known->attempt = tried.number;
    else
      cache_.add({made->step, made->budget, std::move(made->guide), made->online, margin_,
                  tried.number, tried.trial});
    return true;
  }

  void plan(const View& view) {
    const Bytes budget = view.budget;
    if (log_.ops() > kMostOps) return;
    const Nanos took = view.now - step_began_;
    Nanos online = took - (own_end_ - own_begin_);
    Attempt next{reserve_one_in_ > 0 ? 0 : PlanCache::kUsualReserve, Trial{took}};
    if (PlanCache::Entry* known = cache_.find(log_.digest(), budget)) {
      if (guide_ != nullptr && guide_ == known->guide && joined_ == 0)
        known->guide = known->trial.judge(guide_, took);
      margin_ = std::max(margin_, known->margin);
      next = {known->attempt + 1, known->trial};
      online = known->online;
      if (!next.trial.over() || !worth_it(*known, next.number, budget)) return;
    } else if (!seen_before(log_.digest())) {
      return;
    }
    if (planner_.busy()) return;
    margin_ = std::max(margin_, share(budget, 128));
    attempt_ = std::move(next);
    planner_.start(log_, {budget, margin_, reserve(budget), view.tier}, online);
  }

  [[nodiscard]] Bytes reserve(Bytes budget) const {
    if (reserve_one_in_ == 0) return {};
    const Bytes usual = share(budget, reserve_one_in_);
    return attempt_.number == 0 ? Bytes{2 * usual.n} : usual;
  }

  // Something takes bytes that no log knows of: what a plan may use is less by as much.
  bool worth_it(const PlanCache::Entry& known, int attempt, Bytes budget) {
    if (attempt <= PlanCache::kUsualReserve) return true;
    if (known.guide == nullptr || attempt > PlanCache::kUsualReserve + kMostAgain) return false;
    if (lacked_ <= share(budget, 64)) return false;
    margin_ = std::min(margin_ + lacked_, share(budget, 8));
    return true;
  }

  // Steps that differ each time are not worth planning: it would only take the program's cores.
  bool seen_before(std::uint64_t step) {
    if (std::ranges::find(seen_, step) != seen_.end()) return true;
    seen_[next_seen_++ % seen_.size()] = step;
    return false;
  }

  // Where a step leaves its plan there may be another that begins in the same way.
  void follow(std::uint32_t op, std::uint64_t digest) {
    at_ = op;
    began_ = digest;
    const bool news = guide_ == nullptr && take_plan();
    if (guide_ != nullptr ? guide_->fits(op, digest) : op != 0 && !news) return;
    join();
  }

  void join() {
    guide_ = cache_.find_for(at_, began_, budget_);
    forget_leaving();
    look_around_ = at_ != 0;
    seen_ops_ = looked_ = at_;
    joined_ = at_;
  }

  // That of the first step is known when bytes are first needed, and so is its plan.
  void learn_budget(const View& view) {
    budget_ = view.budget;
    if (logging_ && log_.ops() > 0) join();
  }

  // The storage of this number, or the one that had it when the step was planned, if this step has
  // not come to it yet. kNoStorage: it is gone.
  [[nodiscard]] StorageId find(const View& view, std::uint32_t number) const {
    if (number < log_.storages()) return log_.storage_of(number);
    const StorageId storage = guide_->carried(number);
    if (storage == kNoStorage || index(storage) >= view.graph.storages()) return kNoStorage;
    const bool known = log_.number_of(storage) != StepLog::kNone;
    return known || view.graph[storage].where() == Residency::Dead ? kNoStorage : storage;
  }

  enum class Wait : std::uint8_t { Never, IfNeedBe };
  static constexpr std::uint64_t kBeforeAnyThatIsSaved = std::uint64_t{1} << 33;

  // Of those that the plan does not want any more the one that is read again last; one whose copy
  // is still being made only if there is no other.
  std::optional<StorageId> by_plan(const View& view, Wait wait) {
    notice_leaving(view);
    std::optional<StorageId> best;
    std::uint64_t latest = 0;
    std::erase_if(leaving_, [&](std::uint32_t number) {
      const StorageId storage = find(view, number);
      if (storage == kNoStorage || !leaves(view.graph[storage], number)) {
        listed_[number] = false;
        return true;
      }
      const Storage& s = view.graph[storage];
      if (s.place != Place::Candidate || s.awaited != 0) return false;
      if (!s.has_recipe() && !s.backed && !s.saving) return false;
      if (s.saving && wait == Wait::Never) return false;
      const std::uint64_t rank =
          guide_->next_read(at_ + 1, number) + (s.saving ? 1ull : kBeforeAnyThatIsSaved);
      if (rank > latest) {
        best = storage;
        latest = rank;
      }
      return false;
    });
    return best;
  }

  [[nodiscard]] bool leaves(const Storage& s, std::uint32_t number) const {
    if (!s.resident() || guide_->stays_after(at_, number)) return false;
    return s.has_recipe() || guide_->away_after(at_, number);
  }

  void notice_leaving(const View& view) {
    listed_.resize(std::max(log_.storages(), guide_->storages()));
    if (seen_ops_ == 0)
      for (std::uint32_t number : guide_->away_at_start()) list(number);
    for (; seen_ops_ <= at_; ++seen_ops_)
      for (std::uint32_t number : guide_->leaves_in(seen_ops_)) list(number);
    for (StorageId storage : offered_) list(log_.number_of(storage));
    offered_.clear();
    if (std::exchange(look_around_, false))
      for (StorageId storage : view.slots)
        if (storage != kNoStorage) list(log_.number_of(storage));
  }

  void list(std::uint32_t number) {
    if (number >= listed_.size() || listed_[number]) return;
    listed_[number] = true;
    leaving_.push_back(number);
  }

  void forget_leaving() {
    leaving_.clear();
    offered_.clear();
    listed_.clear();
    brought_.clear();
  }

  std::int64_t reserve_one_in_;
  Planner planner_;
  Attempt attempt_;  // at the step that is being planned
  Plans own_;
  PlanCache& cache_;
  StepLog log_;
  Carried carried_;
  bool logging_;  // if there are plans; else after the first step in which something had to go
  bool asked_ = false;  // in this step
  Bytes budget_;
  Bytes margin_;  // what a plan may not use
  Bytes lacked_;  // what had to go in this step although the plan wanted it
  Nanos step_began_;
  Nanos own_begin_, own_end_;              // of its ops, by the time of the program's own
  std::array<std::uint64_t, 128> seen_{};  // steps without a plan, by their digests
  std::size_t next_seen_ = 0;

  std::shared_ptr<const Guide> guide_;  // of this step; null: none
  std::uint32_t at_ = 0;                // the op that began last
  std::uint64_t began_ = 0;             // its digest
  std::uint32_t joined_ = 0;            // the op from which on the plan is followed
  std::uint32_t seen_ops_ = 0;          // whose leaving is noticed
  std::vector<std::uint32_t> leaving_;  // numbers: the plan may not want them any more
  std::vector<bool> listed_;            // by number
  std::vector<StorageId> offered_;      // since the last choice
  std::uint32_t looked_ = 0;            // ops whose copies are noticed
  std::vector<std::uint32_t> brought_;  // numbers: to come back, in this order
  bool look_around_ = false;            // anything that is there may be leaving
};

}  // namespace

std::unique_ptr<Policy> make_planned(std::unique_ptr<Policy> online, const PolicyInputs& inputs) {
  return std::make_unique<Planned>(std::move(online), inputs);
}

}  // namespace weir::pilot
