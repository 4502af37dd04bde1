#include "policy/regions.h"

#include <algorithm>

namespace weir::policy {

namespace {
// Room for a region is not all there when it comes back, and what has no room does not all run
// again. Both as found on DTR's logs (docs/policies.md).
constexpr double kUsableRoom = 0.5;
constexpr double kRunAgain = 0.3;

bool evicted(const Storage& s) { return s.where() == Residency::Evicted; }
}  // namespace

bool hardly_wanted(const Graph& graph, StorageId storage) {
  bool read = false, had = false;
  for_each_forward_read(graph, storage, [&](const OpRecord& /*op*/, const Tensor& tensor) {
    read = true;
    had = had || tensor.fresh || tensor.references != 0;
  });
  return read && !had;
}

void Regions::survey(const Graph& graph, const BackwardOrder& order, const Rereads& rereads) {
  region_.assign(graph.storages(), kNone);
  regions_.clear();
  find_freed(graph, order);
  for (std::uint32_t i = 0; i < graph.storages(); ++i) {
    const StorageId storage{i};
    const Storage& s = graph[storage];
    if (evicted(s) && s.references != 0 && order.ahead(graph, storage) &&
        !hardly_wanted(graph, storage))
      find_wanted(graph, storage);
  }
  for (std::uint32_t i = 0; i < graph.storages(); ++i)
    if (region_[i] == kUnnumbered) regions_.push_back(collect(graph, StorageId{i}, order, rereads));
  shortage_ = find_shortage();
}

// The storage and all that it has to be made from.
void Regions::find_wanted(const Graph& graph, StorageId storage) {
  work_.clear();
  const auto add = [&](StorageId wanted) {
    if (region_[index(wanted)] != kNone || !evicted(graph[wanted])) return;
    region_[index(wanted)] = kUnnumbered;
    work_.push_back(wanted);
  };
  add(storage);
  while (!work_.empty()) {
    const StorageId at = work_.back();
    work_.pop_back();
    for (StorageId dep : graph.deps(at)) add(dep);
  }
}

void Regions::find_freed(const Graph& graph, const BackwardOrder& order) {
  freed_.clear();
  for (std::uint32_t i = 0; i < graph.storages(); ++i) {
    const Storage& s = graph[StorageId{i}];
    if (s.resident() && s.references != 0 && order.ahead(graph, StorageId{i}))
      freed_.push_back({made_at(graph, StorageId{i}), static_cast<double>(s.size.n)});
  }
  std::ranges::sort(freed_, std::greater{}, &Freed::made_at);
  double bytes = 0;
  for (Freed& freed : freed_) freed.bytes = bytes += freed.bytes;
}

Regions::Region Regions::collect(const Graph& graph, StorageId first, const BackwardOrder& order,
                                 const Rereads& rereads) {
  const auto number = static_cast<std::int32_t>(regions_.size());
  Region region;
  const auto add = [&](StorageId storage) {
    if (region_[index(storage)] != kUnnumbered) return;
    region_[index(storage)] = number;
    work_.push_back(storage);
  };
  work_.clear();
  add(first);
  while (!work_.empty()) {
    const StorageId at = work_.back();
    work_.pop_back();
    const Storage& s = graph[at];
    region.cost += static_cast<double>(s.cost.n);
    if (s.references != 0 && order.ahead(graph, at) && !hardly_wanted(graph, at)) {
      region.bytes += static_cast<double>(s.size.n);
      region.first = std::max(region.first, rereads.last_read(graph, at));
    }
    for (StorageId dep : graph.deps(at)) add(dep);
    for (StorageId dependent : graph.dependents(at)) add(dependent);
  }
  return region;
}

double Regions::find_shortage() const {
  double missing = 0;
  for (const Region& region : regions_) missing += region.bytes;
  const double there = freed_.empty() ? 0 : freed_.back().bytes;
  return missing > there ? 1 - there / missing : 0;
}

double Regions::room(Nanos place) const {
  const auto kept = std::ranges::partition_point(
      freed_, [&](const Freed& freed) { return freed.made_at > place; });
  return kept == freed_.begin() ? 0 : std::prev(kept)->bytes;
}

double Regions::restoring(const Region& region) const {
  const double usable = std::max(kUsableRoom * room(region.first), 1.0);
  return region.cost * (1 + kRunAgain * std::max(0.0, region.bytes / usable - 1));
}

}  // namespace weir::policy
