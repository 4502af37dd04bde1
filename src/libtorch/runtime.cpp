#include "libtorch/runtime.h"

#include <chrono>

#include "base/check.h"
#include "libtorch/out_of_budget.h"
#include "tier/spec.h"
#include "trace/info.h"
#include "trace/reader.h"
#include "weir/errors.h"
#include "weir/registry.h"

namespace weir::libtorch {

namespace {
constexpr Bytes kUnlimited{kMostBytes.n / 2};

std::unique_ptr<Tier> make_tier(const std::string& text) {
  if (text.empty()) return std::make_unique<tier::FileTier>(tier::FileTierOptions{});
  const tier::TierSpec spec = tier::parse_tier(text);
  return spec.file ? std::make_unique<tier::FileTier>(*spec.file) : nullptr;
}

std::optional<trace::Info> known_from(const std::string& file) {
  if (file.empty()) return std::nullopt;
  return trace::info_of(trace::read_trace(file));
}

// Whether it was lower.
bool raise(std::atomic<std::int64_t>& peak, std::int64_t now) {
  std::int64_t known = peak.load(std::memory_order_relaxed);
  if (now <= known) return false;
  while (now > known && !peak.compare_exchange_weak(known, now, std::memory_order_relaxed)) {
  }
  return true;
}

// One pointer, found without a call: it is looked at several times in every op.
__attribute__((tls_model("initial-exec"))) thread_local ThreadState* current_thread = nullptr;
}  // namespace

ThreadState& this_thread() {
  if (current_thread == nullptr) {
    static thread_local ThreadState state;
    current_thread = &state;
  }
  return *current_thread;
}

// Never destroyed: other libraries free tensors after our static destructors have run.
Runtime& Runtime::get() {
  static auto* runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime()
    : memory_{options_.smallest,
              {.grow =
                   [this](Bytes size) {
                     count_logical(size.n);
                     Charge bytes = charge(size);
                     const std::lock_guard lock{chunk_mutex_};
                     chunk_charges_[size.n].push_back(std::move(bytes));
                   },
               .shrink =
                   [this](Bytes size) {
                     count_logical(-size.n);
                     const std::lock_guard lock{chunk_mutex_};
                     chunk_charges_[size.n].pop_back();
                   }}} {}

Nanos Runtime::tick() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::int64_t ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  clock_.store(ns, std::memory_order_relaxed);
  return {ns};
}

void Runtime::start(const RunOptions& options) {
  auto core = std::make_unique<Core>();
  const PolicyEntry& policy = find_policy(options.policy);
  if (!options.plans.empty()) core->plans = Plans::load(options.plans);
  core->policy = policy.make(
      {.background = true, .reserve_one_in = pages::kReserveOneIn, .plans = &core->plans});
  core->disk = make_tier(options.tier);
  if (core->disk) core->tier = std::make_unique<tier::QueuedTier>(*core->disk);
  const std::optional<trace::Info> known = known_from(options.trace);
  if (core_) {
    save_plans();
    set_budget(kUnlimited);
    bring_all_back();
    drop_core();
  }
  options_ = options;
  step_needs_ = known ? known->largest_op : Bytes{};
  if (known && options.peak == Bytes{}) options_.peak = known->liveness_peak;
  memory_.set_smallest(options.smallest);
  core->manager = std::make_unique<Manager>(Options{.budget = kUnlimited,
                                                    .smallest = {1},
                                                    .recompute = options.recompute,
                                                    .offload = core->tier != nullptr,
                                                    .reuse_ids = true,
                                                    .reserve_one_in = pages::kReserveOneIn},
                                            *core->policy, *this);
  core_ = std::move(core);
  plans_ = policy.plans;
  started_ = tick();
  memory_.give_back_spares();
  look_for_companions();
  reset_counts();
  charge_everything();
  budget_ = Budget{options.budget, options.fraction, options_.peak};
  active_ = true;
  set_budget(budget_.at({logical_peak_}));
  memory_.arena().reset_peak();
}

void Runtime::reset_counts() {
  logical_peak_ = logical_.load();
  for (auto* count : {&ops_, &faults_, &escapes_, &steps_}) *count = 0;
  for (auto* sum :
       {&own_ns_, &room_ns_, &recompute_ns_, &offload_ns_, &fetch_ns_, &offloaded_, &fetched_})
    *sum = 0;
  short_ = false;
  memory_.reset_moved();
  step_began_ = 0;
  still_until_ = 0;
  tier_full_ = false;
}

void Runtime::fail(const OutOfBudget& error) const {
  throw_out_of_budget(error, {.step_needs = step_needs_, .tier_full = tier_full_});
}

// What was allocated before the budget began.
void Runtime::charge_everything() {
  std::vector<Block*> blocks;
  memory_.for_each([&](Block& block) {
    if (block.pages != nullptr) blocks.push_back(&block);
  });
  for (Block* block : blocks) {
    block->charge = core_->manager->allocate(block->size);
    tensor_of(*block);
    if (block->escaped) block->pin.emplace(access(*block, Access::Write));
  }
  const std::lock_guard lock{chunk_mutex_};
  for (auto& [size, charges] : chunk_charges_)
    for (Charge& charge : charges) charge = core_->manager->allocate({size});
}

void Runtime::stop() {
  if (!core_) return;
  save_plans();
  set_budget(kUnlimited);
  budget_ = Budget{kUnlimited, 0, {}};
  options_.recompute = false;
  active_ = away_.load() != 0;
}

void Runtime::save_plans() {
  if (!core_ || options_.plans.empty()) return;
  const std::lock_guard lock{*core_->manager};
  try {
    core_->plans.save(options_.plans);
  } catch (const BadInput& error) {
    TORCH_WARN("weir: ", error.what());
  }
}

void Runtime::bring_all_back() {
  core_->manager->settle();
  std::vector<Block*> away;
  memory_.for_each([&](Block& block) {
    if (!block.resident() && block.program()) away.push_back(&block);
  });
  for (Block* block : away) const Pin pin = access(*block, Access::Read);
}

// Everything is resident: the blocks stay, the manager and all it counted goes.
void Runtime::drop_core() {
  {
    const std::lock_guard lock{pin_mutex_};
    faulted_.clear();
  }
  std::vector<Block*> ghosts;
  memory_.for_each([&](Block& block) {
    block.pin.reset();
    block.held.reset();
    block.charge = {};
    if (block.storage != kNoStorage) blocks_.set(block.storage, nullptr);
    block.storage = kNoStorage;
    block.tensor = kUntold;
    if (!block.program()) ghosts.push_back(&block);
  });
  for (Block* ghost : ghosts) memory_.free(*ghost);
  {
    const std::lock_guard lock{chunk_mutex_};
    for (auto& [size, charges] : chunk_charges_)
      for (Charge& charge : charges) charge = {};
  }
  {
    const std::lock_guard lock{foreign_mutex_};
    foreign_.clear();
    foreign_bytes_ = 0;
  }
  copies_.clear();
  discarded_.clear();
  recipes_.forget_all();
  core_.reset();
}

void Runtime::set_budget(Bytes budget) {
  const std::lock_guard lock{cap_mutex_};
  const Bytes cap = budget - Bytes{foreign_bytes_};
  if (cap > memory_.arena().cap()) memory_.arena().set_cap(cap);
  core_->manager->set_budget(budget);
  if (cap < memory_.arena().cap()) memory_.arena().set_cap(cap);
}

// Small blocks go several at a time: neighbours in time are often neighbours in memory, whose pages
// move as one.
void Runtime::make_room(Bytes size) {
  constexpr Bytes kMost{256 << 10};
  const Ledger& ledger = core_->manager->ledger();
  const Bytes together = std::min(kMost, Bytes{ledger.budget().n / 64});
  if (size < together && ledger.used() + size > ledger.budget()) core_->manager->reclaim(together);
}

Charge Runtime::charge(Bytes size) {
  if (!core_) return {};
  make_room(size);
  for (;;) {
    try {
      return core_->manager->allocate(size);
    } catch (const OutOfBudget& error) {
      if (forget_dead_foreign()) continue;
      if (!budget_.learning()) fail(error);
      set_budget(error.smallest_budget());
    }
  }
}

void Runtime::count_logical(std::int64_t bytes) {
  const std::int64_t now = logical_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (!raise(logical_peak_, now)) return;
  if (core_ && budget_.follows_peak()) follow_peak();
}

void Runtime::start_taking() {
  op_bytes_ = 0;
  op_peak_ = 0;
}

void Runtime::count_taken(std::int64_t bytes) {
  if (measures_scratch()) raise(op_peak_, op_bytes_ += bytes);
}

Bytes Runtime::taken() const { return {op_peak_.load()}; }

void Runtime::follow_peak() {
  const Bytes budget = budget_.at({logical_peak_});
  if (budget > core_->manager->ledger().budget()) set_budget(budget);
}

void Runtime::step() {
  if (!core_) return;
  recorder_.step();
  core_->manager->end_step();
  forget_dead_foreign();
  {
    std::vector<Pin> unpinned;
    const std::lock_guard lock{pin_mutex_};
    unpinned.swap(faulted_);
  }
  step_began_ = ops_.load();
  look_for_companions();
  if (++steps_ == 1 && budget_.learning()) {
    budget_.learned();
    set_budget(budget_.at({logical_peak_}));
  }
}

// A program that never says where its steps end would otherwise have recipes that grow for ever.
void Runtime::count_op() {
  constexpr std::uint64_t kLongStep = 1 << 17;
  const std::uint64_t ops = ops_.fetch_add(1, std::memory_order_relaxed);
  if (ops - step_began_.load(std::memory_order_relaxed) < kLongStep) return;
  step_began_ = ops;
  core_->manager->end_step();
}

Bytes Runtime::reclaim(Bytes size) {
  if (!core_) return {};
  const Launching launching;
  const Bytes freed = core_->manager->reclaim(size);
  memory_.give_back_spares();
  memory_.arena().give_back_free();
  return freed;
}

void Runtime::follow_foreign() {
  const std::lock_guard lock{cap_mutex_};
  memory_.arena().set_cap(core_->manager->ledger().budget() - Bytes{foreign_bytes_});
}

void Runtime::see_foreign(c10::StorageImpl& storage) {
  {
    const std::lock_guard lock{foreign_mutex_};
    if (foreign_.contains(&storage)) return;
  }
  const Bytes size{static_cast<std::int64_t>(storage.nbytes())};
  Charge bytes = charge(size);
  const std::lock_guard lock{foreign_mutex_};
  if (foreign_.contains(&storage)) return;
  auto* weak = c10::raw::intrusive_ptr::make_weak(&storage);
  foreign_.emplace(&storage, Foreign{c10::weak_intrusive_ptr<c10::StorageImpl>::reclaim(weak),
                                     std::move(bytes)});
  foreign_bytes_ += size.n;
  follow_foreign();
}

bool Runtime::forget_dead_foreign() {
  const std::unique_lock lock{foreign_mutex_, std::try_to_lock};
  if (!lock.owns_lock()) return false;
  const auto before = foreign_.size();
  std::erase_if(foreign_, [&](const auto& entry) {
    if (!entry.second.storage.expired()) return false;
    foreign_bytes_ -= entry.second.charge.size().n;
    return true;
  });
  if (foreign_.size() == before) return false;
  follow_foreign();
  return true;
}

Stats Runtime::stats() const {
  Stats stats;
  stats.logical = {logical_};
  stats.logical_peak = {logical_peak_};
  stats.committed = memory_.arena().committed();
  stats.peak = memory_.arena().peak_committed();
  stats.foreign = {foreign_bytes_};
  stats.steps = steps_;
  stats.ops = ops_;
  stats.faults = faults_;
  stats.escapes = escapes_;
  stats.moved = memory_.moved();
  stats.pages = memory_.arena().counters();
  stats.records = recipes_.in_use();
  stats.offloaded = {offloaded_};
  stats.fetched = {fetched_};
  stats.own = {own_ns_};
  stats.room = {room_ns_};
  stats.recompute = {recompute_ns_};
  stats.offload = {offload_ns_};
  stats.fetch = {fetch_ns_};
  if (!core_) return stats;
  stats.budget = core_->manager->ledger().budget();
  stats.counters = core_->manager->counters();
  stats.storages = core_->manager->living_storages();
  stats.elapsed = Nanos{clock_} - started_;
  return stats;
}

}  // namespace weir::libtorch
