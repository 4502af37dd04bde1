#include "weir/manager.h"

#include "base/check.h"
#include "core/state.h"

namespace weir {

namespace {

using core::Job;
using core::State;

// Verifies the state at the end of every public call, in builds that ask for it.
class [[maybe_unused]] Checked {
 public:
  explicit Checked([[maybe_unused]] const State& state)
#ifdef WEIR_CHECK_FULL
      : state_{state} {
  }
  ~Checked() { state_.check(); }

 private:
  const State& state_;
#else
  {
  }
#endif
};

}  // namespace

Ticket::Ticket(Ticket&& other) noexcept
    : manager_{other.manager_}, job_{std::exchange(other.job_, nullptr)} {}

Ticket::~Ticket() {
  if (job_ != nullptr) manager_->give_up(*job_);
}

bool Ticket::waits() const { return job_->waits; }

StorageId Ticket::storage(std::uint32_t output) const { return job_->storages[output]; }

StorageId Ticket::target(std::uint32_t output) const {
  return output < job_->targets.size() ? job_->targets[output] : kNoStorage;
}

void Ticket::deliver(std::uint32_t output, Charge bytes) {
  if (job_->delivered.size() <= output) job_->delivered.resize(output + 1);
  job_->delivered[output] = std::move(bytes);
}

Pin::Pin(Pin&& other) noexcept
    : manager_{std::exchange(other.manager_, nullptr)}, storage_{other.storage_} {}

Pin::~Pin() {
  if (manager_ != nullptr) manager_->unpin(storage_);
}

Manager::Manager(const Options& options, Policy& policy, Executor& executor)
    : state_{std::make_unique<State>(options, policy, executor)} {}

Manager::~Manager() = default;

TensorId Manager::add_constant(Charge bytes, const Named& named) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  return state_->add_constant(std::move(bytes), named);
}

Ticket Manager::begin(const OpCall& op) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  state_->receive(op.inputs);
  Job& job = state_->new_job();
  state_->begin(job, op);
  return {*this, job};
}

TensorId Manager::declare(Ticket& ticket, std::span<const Output> outputs, Nanos cost) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  return state_->declare(*ticket.job_, outputs, cost);
}

const OpRecord* Manager::next(Ticket& ticket) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  return state_->next(*ticket.job_);
}

Charge Manager::allocate(Bytes size) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  return state_->charge(size);
}

void Manager::end(Ticket ticket, Bytes scratch) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  Job& job = *std::exchange(ticket.job_, nullptr);
  state_->finish_first_run(job, scratch);
  state_->recycle(job);
  state_->bury_orphans();
  state_->copy_ahead();
}

Ticket Manager::begin_access(TensorId tensor, Access access) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  state_->receive({&tensor, 1});
  Job& job = state_->new_job();
  state_->start_access(job, tensor, access);
  return {*this, job};
}

Pin Manager::end_access(Ticket ticket) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  Job& job = *std::exchange(ticket.job_, nullptr);
  const StorageId storage = state_->graph[job.wanted].storage;
  WEIR_CHECK(job.pins.size() == 1 && job.pins.front() == storage, storage);
  state_->finish_access(job);
  state_->recycle(job);  // the ticket's pin becomes the caller's
  state_->bury_orphans();
  return {*this, storage};
}

void Manager::retain(TensorId tensor) {
  const std::lock_guard lock{mutex_};
  state_->retain(tensor);
}

void Manager::release(TensorId tensor) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  state_->release(tensor);
  state_->bury_orphans();
}

void Manager::end_step() {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  state_->settle();
  state_->end_step();
  state_->bury_orphans();
}

Bytes Manager::reclaim(Bytes size) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  return state_->reclaim_bytes(size);
}

bool Manager::back_up(const Pin& pin) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  return state_->graph[pin.storage_].pins == 1 && state_->back_up(pin.storage_);
}

std::vector<TensorId> Manager::retain_evicted() {
  const std::lock_guard lock{mutex_};
  return state_->retain_evicted();
}

void Manager::settle() {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  state_->settle();
}

void Manager::set_budget(Bytes budget) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  state_->set_budget(budget);
}

void Manager::give_up(Job& job) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  state_->give_up(job);
  state_->recycle(job);
  state_->bury_orphans();
}

void Manager::unpin(StorageId storage) {
  const std::lock_guard lock{mutex_};
  const Checked checked{*state_};
  state_->unpin(storage);
  state_->bury_orphans();
}

StorageId Manager::storage_of(TensorId tensor) const {
  const std::lock_guard lock{mutex_};
  return state_->graph[tensor].storage;
}

std::size_t Manager::living_storages() const {
  const std::lock_guard lock{mutex_};
  return state_->graph.living_storages();
}

Counters Manager::counters() const {
  const std::lock_guard lock{mutex_};
  return state_->counters;
}

const Ledger& Manager::ledger() const { return state_->ledger; }
const Graph& Manager::graph() const { return state_->graph; }
View Manager::view() const { return state_->view(); }

void Manager::check() const {
  const std::lock_guard lock{mutex_};
  state_->check();
}

void Manager::reserve(std::size_t tensors, std::size_t ops) { state_->graph.reserve(tensors, ops); }

}  // namespace weir
