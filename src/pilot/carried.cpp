#include "pilot/carried.h"

#include <utility>

namespace weir::pilot {

namespace {
// Copies are begun so much sooner than they would take if nothing else went on.
constexpr double kEarly = 2;
}  // namespace

Carried::Uses& Carried::uses_of(StorageId storage) {
  if (index(storage) >= uses_.size()) uses_.resize(index(storage) + 1);
  Uses& uses = uses_[index(storage)];
  if (uses.step == step_) return uses;
  const bool yesterday = uses.step + 1 == step_;
  uses = {.step = step_, .usual = yesterday ? uses.now : 0, .goes = yesterday && uses.goes};
  return uses;
}

void Carried::begin(const Graph& graph, const OpRecord& op) {
  at_ = op.position;
  if (op.phase != phase_) {
    if (!phase_) forward_ = backward_ = optimizer_ = at_;
    phase_ = op.phase;
    if (phase_ == Phase::Backward) backward_ = at_;
    if (phase_ == Phase::Optimizer) optimizer_ = at_;
  }
  if (phase_ != Phase::Optimizer) return;
  for (TensorId input : graph.inputs(op)) count(graph, graph[input].storage);
}

void Carried::count(const Graph& graph, StorageId storage) {
  const Storage& s = graph[storage];
  if (s.has_recipe()) return;
  Uses& uses = uses_of(storage);
  if (uses.now++ == 0 && (s.where() == Residency::Offloaded || uses.brought))
    updated_.push_back(storage);
  if (uses.goes && uses.now == uses.usual) done_.push_back(storage);
}

// Is the end of backward so near that what is away had better be on its way?
bool Carried::due(const Graph& graph) const {
  if (backward_ == forward_) return false;
  if (phase_ == Phase::Optimizer) return true;
  if (backward_share_ == 0 || link_.read.bytes_per_nano <= 0) return false;
  double transfers = 0;
  for (StorageId storage : awaited_)
    if (graph[storage].where() == Residency::Offloaded)
      transfers += static_cast<double>(transfer_time(graph[storage].size, link_.read).n);
  const double expected = backward_share_ * static_cast<double>((backward_ - forward_).n);
  return expected - static_cast<double>((at_ - backward_).n) <= kEarly * transfers;
}

// Once a step for each: what had to go again is fetched when it is wanted.
void Carried::look_ahead(const View& view, Ahead& ahead) {
  for (StorageId storage : std::exchange(done_, {})) ahead.save.push_back(storage);
  if (awaited_.empty() || !due(view.graph)) return;
  Bytes room = view.budget - view.used;
  for (StorageId storage : awaited_) {
    const Storage& s = view.graph[storage];
    Uses& uses = uses_of(storage);
    if (uses.brought) uses.came = uses.came || s.arriving || s.resident();
    if (s.where() != Residency::Offloaded || s.has_recipe() || uses.came || uses.now != 0) continue;
    if (s.size > room) return;
    room = room - s.size;
    uses.brought = true;
    ahead.bring.push_back(storage);
  }
}

void Carried::end_step(const View& view) {
  if (view.tier) link_ = view.tier->link;
  const Nanos before = backward_ - forward_, after = optimizer_ - backward_;
  backward_share_ = before.n > 0 && after.n > 0
                        ? static_cast<double>(after.n) / static_cast<double>(before.n)
                        : 0;
  for (StorageId storage : updated_) uses_of(storage).goes = true;
  awaited_ = std::exchange(updated_, {});
  done_.clear();
  ++step_;
  phase_.reset();
}

}  // namespace weir::pilot
