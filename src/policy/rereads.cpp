#include "policy/rereads.h"

#include <algorithm>
#include <bit>

#include "policy/backward_order.h"

namespace weir::policy {

namespace {
// As if there were so many storages more that were not read again: a few reads prove little.
constexpr double kDoubt = 30;

std::size_t bucket(Nanos time) {
  return static_cast<std::size_t>(
      std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.n))));
}
}  // namespace

void Rereads::declare(StorageId storage) {
  if (index(storage) < known_.size()) known_[index(storage)] = {};
}

Nanos Rereads::last_read(const Graph& graph, StorageId storage) const {
  return std::max(known(storage).last, made_at(graph, storage));
}

void Rereads::read(const Graph& graph, StorageId storage, const OpRecord& op) {
  if (!graph[storage].has_recipe()) return;
  if (known_.size() <= index(storage)) known_.resize(graph.storages());
  Known& known = known_[index(storage)];
  again_[known.reads][bucket(op.position - last_read(graph, storage))] += 1;
  if (known.reads > 0 && known.reader != op.kind)
    note_nest(graph, storage, {known.reader, op.kind});
  known = {.last = op.position,
           .reads = std::min<std::uint8_t>(kMostReads, known.reads + 1),
           .reader = op.kind};
}

void Rereads::note_nest(const Graph& graph, StorageId storage, Kinds kinds) {
  Nest& nest = nests_[kinds];
  const Nanos made = made_at(graph, storage);
  nest.holds = nest.holds && (nest.depth == 0 || made < nest.made_at);
  nest.made_at = made;
  ++nest.depth;
}

// One says nothing: whatever is read again is younger or older than something.
double Rereads::chance_in_nest(const Graph& graph, StorageId storage) const {
  if (known(storage).reads == 0) return 0;
  double most = 0;
  const std::uint64_t reader = known(storage).reader;
  for (auto at = nests_.lower_bound({reader, 0}); at != nests_.end(); ++at) {
    const auto& [kinds, nest] = *at;
    if (kinds.first != reader) break;
    if (!nest.holds || made_at(graph, storage) >= nest.made_at) continue;
    most = std::max(most, 1 - 1.0 / static_cast<double>(nest.depth));
  }
  return most;
}

void Rereads::survey(const Graph& graph, Nanos position) {
  position_ = position;
  waiting_ = {};
  for (std::uint32_t i = 0; i < graph.storages(); ++i) {
    const StorageId storage{i};
    if (graph[storage].references == 0 || !made_outside_backward(graph, storage)) continue;
    waiting_[known(storage).reads][bucket(position - last_read(graph, storage))] += 1;
  }
  for (std::size_t reads = 0; reads <= kMostReads; ++reads) {
    double again = 0, waiting = 0;
    for (std::size_t since = chances_[reads].size(); since-- > 0;) {
      again += again_[reads][since];
      waiting += waiting_[reads][since];
      chances_[reads][since] = again / (again + waiting + kDoubt);
    }
  }
}

double Rereads::chance(const Graph& graph, StorageId storage) const {
  return std::max(chances_[known(storage).reads][bucket(position_ - last_read(graph, storage))],
                  chance_in_nest(graph, storage));
}

}  // namespace weir::policy
