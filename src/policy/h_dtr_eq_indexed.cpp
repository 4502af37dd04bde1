#include <algorithm>
#include <utility>

#include "policy/evicted_classes.h"
#include "policy/make.h"
#include "policy/ratio.h"
#include "policy/staleness_index.h"

namespace weir::policy {

namespace {

// A candidate's cost changes with the sums of the classes next to it, and one sum can be next to
// many candidates, so not every change is followed up at once:
//   - A cost that grew is noticed when the candidate stands for its row, which is moved then. Until
//     then its place promises less than it costs, which hides nothing.
//   - A sum that fell below its highest value by more than a step moves all who watch it, which
//     are those that were placed with that sum in their cost.
class ClassesIndexed final : public Policy {
 public:
  ClassesIndexed()
      : Policy{Change::Declared | Change::Restored | Change::Evicted | Change::Offered |
               Change::Withdrawn | Change::Grown | Change::Lost | Change::Died} {}

  [[nodiscard]] bool counts_lineage() const override { return true; }

  [[nodiscard]] bool catches_up() const override { return true; }

  std::optional<Choice> choose(const View& view, Bytes /*need*/) override {
    now_ = view.now;
    const auto victim = index_.lowest(now_, [&](StorageId id) -> std::optional<double> {
      ++scored_;
      const Storage& s = view.graph[id];
      const Nanos cost = classes_.cost(view.graph, id);
      if (StalenessIndex::row_of(cost, s.size) > index_.row_of(id)) {
        move(view.graph, id);
        return std::nullopt;
      }
      return score(cost, s.size, now_ - s.last_use);
    });
    return victim ? std::optional{Choice{*victim}} : std::nullopt;
  }

  void note(const Graph& graph, StorageId storage, Change change) override {
    if (classes_.crowded()) compact();
    switch (change) {
      case Change::Declared:
        return classes_.declare(storage);
      case Change::Evicted:
        return evict(graph, storage);
      case Change::Restored:
        return restore(graph, storage);
      case Change::Offered:
        return place(graph, storage);
      case Change::Withdrawn:
        return index_.remove(storage);
      case Change::Died:
        return die(graph, storage);
      case Change::Lost:
        return lose(graph, storage);
      default:
        return move(graph, storage);
    }
  }

 private:
  using Class = EvictedClasses::Class;
  struct Watch {
    std::vector<StorageId> watchers;  // some may have left, some may be there twice
    std::size_t tidy_at = 16;
    Nanos highest;  // the sum's, since all watchers were last placed
  };

  void evict(const Graph& graph, StorageId storage) {
    classes_.evict(graph, storage, [&](Class from, Class into) {
      watch(std::max(from, into));  // there is room for both
      Watch &source = watches_[from], &target = watches_[into];
      if (source.watchers.size() > target.watchers.size()) std::swap(source, target);
      target.watchers.insert(target.watchers.end(), source.watchers.begin(), source.watchers.end());
      target.highest += source.highest;
      source = {};
    });
  }

  void restore(const Graph& graph, StorageId storage) {
    leave(graph, storage);
    for (StorageId dep : graph.deps(storage)) move(graph, dep);
    for (StorageId dependent : graph.dependents(storage)) move(graph, dependent);
  }

  // Its cost leaves its class. It still has its edges: who is next to it can only be moved when
  // they are gone, in lose().
  void die(const Graph& graph, StorageId storage) {
    if (graph[storage].where() != Residency::Evicted) return;
    leave(graph, storage);
    for (StorageId dep : graph.deps(storage)) bereaved_.push_back(dep);
    for (StorageId dependent : graph.dependents(storage)) bereaved_.push_back(dependent);
  }

  void lose(const Graph& graph, StorageId storage) {
    move(graph, storage);
    for (StorageId neighbour : bereaved_) move(graph, neighbour);
    bereaved_.clear();
  }

  void leave(const Graph& graph, StorageId storage) {
    const Class left = classes_.restore(graph, storage);
    const double least = static_cast<double>(watch(left).highest.n) / StalenessIndex::kStep;
    if (static_cast<double>(classes_.sum(left).n) < least) {
      tidy(watches_[left]);
      watches_[left].highest = classes_.sum(left);
      const std::vector<StorageId> watchers = watches_[left].watchers;
      for (StorageId watcher : watchers) move(graph, watcher);
    }
  }

  void compact() {
    const std::vector<Class> renamed = classes_.compact();
    std::vector<Watch> kept;
    for (Class old = 0; old < watches_.size(); ++old) {
      if (renamed[old] == EvictedClasses::kNone) continue;
      if (kept.size() <= renamed[old]) kept.resize(renamed[old] + 1);
      kept[renamed[old]] = std::move(watches_[old]);
    }
    watches_ = std::move(kept);
  }

  // Finds a candidate's place again after its cost may have changed.
  void move(const Graph& graph, StorageId storage) {
    if (!index_.contains(storage)) return;
    const Nanos cost = classes_.cost(graph, storage);
    if (StalenessIndex::row_of(cost, graph[storage].size) == index_.row_of(storage)) return;
    index_.remove(storage);
    place(graph, storage);
  }

  void place(const Graph& graph, StorageId storage) {
    Nanos cost = graph[storage].cost;
    for (Class next : classes_.next_to(graph, storage)) {
      const Nanos sum = classes_.sum(next);
      cost += sum;
      Watch& watched = watch(next);
      watched.highest = std::max(watched.highest, sum);
      if (watched.watchers.size() >= watched.tidy_at) tidy(watched);
      watched.watchers.push_back(storage);
    }
    const Storage& s = graph[storage];
    now_ = std::max(now_, s.last_use);
    index_.add(storage, cost, s.size, s.last_use, now_);
  }

  void tidy(Watch& watched) {
    std::vector<StorageId>& all = watched.watchers;
    std::erase_if(all, [&](StorageId watcher) { return !index_.contains(watcher); });
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    watched.tidy_at = std::max<std::size_t>(16, 2 * all.size());
  }

  Watch& watch(Class root) {
    if (watches_.size() <= root) watches_.resize(root + 1);
    return watches_[root];
  }

  EvictedClasses classes_;
  StalenessIndex index_;
  std::vector<Watch> watches_;       // by class
  std::vector<StorageId> bereaved_;  // what the one that is dying is next to
  Nanos now_;
};

}  // namespace

std::unique_ptr<Policy> make_h_dtr_eq_indexed(const PolicyInputs& /*inputs*/) {
  return std::make_unique<ClassesIndexed>();
}

}  // namespace weir::policy
