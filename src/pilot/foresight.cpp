// Plans what is left of a step.
//
// Backward mirrors forward (mirror.h), so what is left can be planned: when backward begins, and in
// forward now and then, as if it ended soon. What the plan does not want goes first, when bytes are
// needed, and of that what is read last. All else is the online policy's choice.
//
// A plan found in so little time can be bad, in a way that shows: it runs the same ops again and
// again. Such a plan is not followed. In forward, where not all is known, a plan must run nothing
// twice, and once one does, forward has no more plans.
#include "pilot/foresight.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "pilot/forward_log.h"
#include "pilot/mirror.h"
#include "plan/answer.h"
#include "plan/fast.h"
#include "policy/backward_order.h"
#include "policy/wrapper.h"

namespace weir::pilot {

namespace {

using plan::ValueId;

struct Effort {
  std::int64_t work;   // in about nanoseconds, as plan/fast counts it
  double most_reruns;  // of what runs again, on average, in a plan that is followed
};
constexpr Effort kInForward{300'000, 1.0}, kInBackward{3'000'000, 1.3};
constexpr std::int64_t kAhead = 10;  // of the budget, forward takes one in so many between plans
constexpr std::size_t kMostOps = 10'000;

// How often on average those ops run again that do.
double reruns_of(const plan::Stays& stays) {
  const plan::Problem& problem = stays.problem();
  const Nanos all = stays.cost() - plan::cost_without_budget(problem);
  Nanos once;
  std::vector<bool> ran(problem.ops.size());
  for (plan::Stage stage = problem.start.first; stage <= problem.end(); ++stage)
    for (std::uint32_t op : stays.reruns(stage)) {
      if (!ran[op]) once += problem.ops[op].cost;
      ran[op] = true;
    }
  return once == Nanos{} ? 1 : static_cast<double>(all.n) / static_cast<double>(once.n);
}

class Foresight final : public policy::Wrapper {
 public:
  explicit Foresight(std::unique_ptr<Policy> online)
      : Wrapper{std::move(online), static_cast<Changes>(Change::Declared)} {}

  std::optional<Choice> choose(const View& view, Bytes need) override {
    std::optional<StorageId> victim = by_plan(view);
    if (!victim && is_due(view)) {
      plan(view, need);
      victim = by_plan(view);
    }
    return victim ? Choice{*victim, true} : Wrapper::choose(view, need);
  }

  void begin(const Graph& graph, const OpRecord& op,
             std::span<const std::uint32_t> mutated) override {
    Wrapper::begin(graph, op, mutated);
    order_.begin(graph, op);
    if (op.phase == Phase::Forward) {
      if (phase_ != Phase::Forward) restart();
      if (log_.ops().size() < kMostOps) log_.begin(graph, op, mutated);
    } else if (op.phase == Phase::Backward) {
      if (!std::exchange(in_backward_, true)) begin_backward();
      advance(graph, op);
    }
    phase_ = op.phase;
  }
  void declare(const Graph& graph, const OpRecord& op) override {
    Wrapper::declare(graph, op);
    if (op.phase != Phase::Forward) return;
    log_.declare(graph, op);
    made_ += op.makes;
  }
  void end(const OpRecord& op, Bytes scratch) override {
    Wrapper::end(op, scratch);
    if (op.phase == Phase::Forward) log_.end(op, scratch);
  }
  void add_constant(const Graph& graph, StorageId storage) override {
    Wrapper::add_constant(graph, storage);
    log_.forget(storage);
  }
  void end_step(const View& view) override {
    Wrapper::end_step(view);
    restart();
  }
  void note(const Graph& graph, StorageId storage, Change change) override {
    Wrapper::note(graph, storage, change);
    if (change == Change::Declared && phase_ != Phase::Forward) log_.forget(storage);
  }
  [[nodiscard]] bool keeps(StorageId storage) const override {
    if (!stays_) return Wrapper::keeps(storage);
    const std::uint32_t value = mirror_->value_of(log_.number_of(storage));
    return value != Mirror::kNone && stays_->keeps(stage_ + 1, ValueId{value});
  }

 private:
  void restart() {
    log_.clear();
    forget_plan();
    in_backward_ = gave_up_ = false;
    made_ = {};
    made_at_plan_.reset();
  }

  void forget_plan() {
    stays_.reset();
    mirror_.reset();
  }

  void begin_backward() {
    forget_plan();
    frontier_ = ForwardLog::kNone;
    gave_up_ = false;
    made_at_plan_.reset();
  }

  // Backward is planned once, forward whenever enough has happened since.
  [[nodiscard]] bool is_due(const View& view) const {
    if (gave_up_ || log_.ops().empty()) return false;
    return !made_at_plan_ ||
           (!in_backward_ && made_ - *made_at_plan_ >= Bytes{view.budget.n / kAhead});
  }

  void plan(const View& view, Bytes need) {
    forget_plan();
    made_at_plan_ = made_;
    if (log_.ops().size() >= kMostOps) return;
    const Effort& effort = in_backward_ ? kInBackward : kInForward;
    mirror_.emplace(view.graph, log_,
                    in_backward_ ? Bytes{} : need + Bytes{view.budget.n / kAhead});
    const plan::Problem& problem = mirror_->problem();
    const Bytes budget = view.budget - (view.used - mirror_->resident());
    stage_ = problem.start.first;
    stays_ = plan::plan_fast(problem, budget, {.work = effort.work});
    if (stays_ && reruns_of(*stays_) > effort.most_reruns) stays_.reset();
    gave_up_ = !stays_;
  }

  // Backward reads something: where does that stand in the plan?
  void advance(const Graph& graph, const OpRecord& op) {
    if (!stays_) return;
    read_.clear();
    for (TensorId input : graph.inputs(op)) {
      const std::uint32_t number = log_.number_of(graph[input].storage);
      if (mirror_->value_of(number) != Mirror::kNone) read_.push_back(number);
    }
    const std::uint32_t reached = mirror_->saved().reached(read_, frontier_);
    if (reached == Saved::kNone) return;
    frontier_ = reached;
    stage_ = std::max(stage_, mirror_->stage_of(reached));
  }

  // Of what the plan does not want to be there after this stage the one that is read last.
  [[nodiscard]] std::optional<StorageId> by_plan(const View& view) const {
    std::optional<StorageId> best;
    std::uint32_t latest = 0;
    if (!stays_) return best;
    for (StorageId storage : view.slots) {
      if (storage == kNoStorage || view.graph[storage].awaited != 0) continue;
      const std::uint32_t value = mirror_->value_of(log_.number_of(storage));
      if (value == Mirror::kNone || stays_->keeps(stage_ + 1, ValueId{value})) continue;
      const std::uint32_t read = next_read(value);
      if (read == stage_ || !view.graph[storage].has_recipe()) continue;
      if (read == UINT32_MAX && order_.held_on(view.graph, storage)) continue;
      if (!best || read > latest) {
        best = storage;
        latest = read;
      }
    }
    return best;
  }

  [[nodiscard]] std::uint32_t next_read(std::uint32_t value) const {
    const std::vector<std::uint32_t>& users = mirror_->problem().values[value].users;
    const auto next = std::ranges::lower_bound(users, stage_);
    return next == users.end() ? UINT32_MAX : *next;
  }

  ForwardLog log_;
  policy::BackwardOrder order_;
  Phase phase_ = Phase::Forward;       // of the last op
  bool in_backward_ = false;           // it has begun, and no forward has since
  bool gave_up_ = false;               // planning it
  Bytes made_;                         // by forward
  std::optional<Bytes> made_at_plan_;  // the last one; none: there was none

  std::optional<Mirror> mirror_;
  std::optional<plan::Stays> stays_;  // none: there is no plan
  std::uint32_t frontier_ = 0;        // the op of forward whose backward runs
  plan::Stage stage_ = 0;             // where the program is in the plan
  std::vector<std::uint32_t> read_;
};

}  // namespace

std::unique_ptr<Policy> make_foresight(std::unique_ptr<Policy> online) {
  return std::make_unique<Foresight>(std::move(online));
}

}  // namespace weir::pilot
