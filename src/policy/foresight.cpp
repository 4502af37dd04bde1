// Evicts what costs least per byte when backward comes to want it, and spares what need not go
// (cover.h).
//
// In forward a storage costs what its eviction adds to the restoring of the regions (regions.h) it
// would join; backward wants all of a region anyway, so it is not charged for its neighbours again.
// What forward itself will read again costs more, since it comes back while memory is shortest.
// Once more is missing than is there, what backward will want late is better evicted.
// In backward, when memory is full and the order of the reads is known, it costs its lineage, and
// the later it is wanted the better: what backward frees until then makes room for it.
// What backward made is kept: by the time it is wanted, most of the step is gone that made it. So
// is what backward is past and somebody holds on to.
// Weights and the like, which only a tier can bring back, are likely to go unused as long as they
// have so far. Each time it costs a fetch, so what is used all the time is as good as never given
// up.
#include <algorithm>
#include <cmath>

#include "graph/marks.h"
#include "policy/backward_order.h"
#include "policy/cover.h"
#include "policy/make.h"
#include "policy/regions.h"
#include "policy/rereads.h"

namespace weir::policy {

namespace {

// Found by search over DTR's logs; docs/policies.md says how much each matters.
constexpr double kReread = 12;         // what being read again in forward costs, in lineages
constexpr double kAncestors = 0.15;    // of the evicted ancestors, though backward wants them too
constexpr double kHardlyWanted = 0.1;  // of what it would cost if backward wanted it
constexpr double kNear = 0.08;         // of forward: nothing is wanted earlier than this
constexpr double kLater = 30;          // what being wanted late counts where memory is shortest

class Score {
 public:
  void begin(const Graph& graph, const OpRecord& op) {
    if (op.phase == Phase::Forward && in_backward()) rereads_.begin_forward();
    if (op.phase == Phase::Forward)
      for (TensorId input : graph.inputs(op)) rereads_.read(graph, graph[input].storage, op);
    order_.begin(graph, op);
    position_ = op.position;
  }
  void declare(StorageId storage) { rereads_.declare(storage); }
  [[nodiscard]] bool in_backward() const { return order_.in_backward(); }

  // Before the first score after something changed.
  void survey(const View& view) {
    const Graph& graph = view.graph;
    now_ = view.now;
    if (order_.in_backward()) return;
    rereads_.survey(graph, position_);
    regions_.survey(graph, order_, rereads_);
  }

  double operator()(const Graph& graph, StorageId storage) {
    const Storage& s = graph[storage];
    if (s.size == Bytes{}) return std::numeric_limits<double>::infinity();
    if (!s.has_recipe()) return fetches(s);
    double price = price_of(graph, storage) / static_cast<double>(s.size.n);
    if (made_outside_backward(graph, storage) && hardly_wanted(graph, storage))
      price *= kHardlyWanted;
    return price / (in_backward() ? weight_of(distance(graph, storage)) : lateness(graph, storage));
  }

 private:
  struct Lineage {
    double cost = 0;      // of the storage and of everything evicted that it is made from
    double unwanted = 0;  // of these, what no region has
  };

  // What cannot be made again: by the byte, until forward could have wanted all that it has made so
  // far, or until it is wanted in backward.
  [[nodiscard]] double fetches(const Storage& s) const {
    const double price = static_cast<double>(s.cost.n) / static_cast<double>(s.size.n);
    const auto unused = static_cast<double>(std::max<std::int64_t>(1, (now_ - s.last_use).n));
    const auto so_far = static_cast<double>((position_ - order_.start()).n);
    return in_backward() ? price / weight_of(unused) : price * (1 + so_far / unused);
  }

  double price_of(const Graph& graph, StorageId storage) {
    if (in_backward() || !made_outside_backward(graph, storage)) {
      const double all = lineage(graph, storage, [](StorageId) { return false; }).cost;
      return all + static_cast<double>(gone_by_then(graph, storage).n);
    }
    return price_in_forward(graph, storage);
  }

  // What is wanted after all else comes back from nothing: what it was made from has been let go
  // of. That is so for what backward made, and for what it is past though somebody holds on to it.
  Nanos gone_by_then(const Graph& graph, StorageId storage) const {
    if (!made_outside_backward(graph, storage)) return position_ - order_.start();
    if (!order_.held_on(graph, storage)) return {};
    return made_at(graph, storage) - order_.start();
  }

  double price_in_forward(const Graph& graph, StorageId storage) {
    near_.clear();
    const auto join = [&](StorageId neighbour) {
      const std::int32_t region = regions_.of(neighbour);
      if (region == Regions::kNone) return false;
      if (std::ranges::find(near_, region) == near_.end()) near_.push_back(region);
      return true;
    };
    const Lineage all = lineage(graph, storage, join);
    for (StorageId dependent : graph.dependents(storage)) join(dependent);
    Regions::Region joined{.cost = all.unwanted,
                           .bytes = static_cast<double>(graph[storage].size.n),
                           .first = rereads_.last_read(graph, storage)};
    double before = 0;
    for (std::int32_t number : near_) {
      const Regions::Region& region = regions_[number];
      before += regions_.restoring(region);
      joined.cost += region.cost;
      joined.bytes += region.bytes;
      joined.first = std::max(joined.first, region.first);
    }
    return regions_.restoring(joined) - before + kAncestors * (all.cost - all.unwanted) +
           kReread * rereads_.chance(graph, storage) * all.cost;
  }

  // `join(storage)` says of each evicted ancestor whether it is in a region.
  template <typename Join>
  Lineage lineage(const Graph& graph, StorageId storage, Join&& join) {
    const double own = static_cast<double>(graph[storage].cost.n);
    Lineage found{.cost = own, .unwanted = own};
    seen_.clear(graph.storages());
    work_.assign(1, storage);
    while (!work_.empty()) {
      const StorageId at = work_.back();
      work_.pop_back();
      for (StorageId dep : graph.deps(at)) {
        if (graph[dep].where() != Residency::Evicted || !seen_.insert(dep)) continue;
        const double cost = static_cast<double>(graph[dep].cost.n);
        found.cost += cost;
        if (!join(dep)) found.unwanted += cost;
        work_.push_back(dep);
      }
    }
    return found;
  }

  // How far backward has to go before it wants the storage. What it does not want is wanted at the
  // end, by the optimizer or by whoever looks at the results.
  double distance(const Graph& graph, StorageId storage) const {
    const Nanos want =
        order_.ahead(graph, storage) ? order_.next_want(graph, storage) : order_.start();
    return static_cast<double>((order_.frontier() - want).n) +
           kNear * static_cast<double>(order_.length().n);
  }

  // Backward wants first what forward read last. Where more is missing than is there, what is
  // wanted late comes back when some of that has been let go of.
  double lateness(const Graph& graph, StorageId storage) const {
    const auto since = static_cast<double>((position_ - rereads_.last_read(graph, storage)).n);
    const double all = static_cast<double>(order_.length().n) + 1;
    return std::sqrt(1 + kLater * regions_.shortage() * since / all);
  }

  // To the power of 3/4, by roots only: these are the same on every machine.
  static double weight_of(double distance) {
    const double root = std::sqrt(std::max(1.0, distance));
    return root * std::sqrt(root);
  }

  BackwardOrder order_;
  Rereads rereads_;
  Regions regions_;
  Nanos position_, now_;
  std::vector<std::int32_t> near_;
  graph::Marks seen_;
  std::vector<StorageId> work_;
};

// Of all candidates.
std::optional<Choice> choose_by(Score& score, Cover& cover, const View& view, Bytes need,
                                std::uint64_t& scored) {
  score.survey(view);
  cover.clear();
  for (StorageId id : view.slots)
    if (id != kNoStorage) cover.add(id, score(view.graph, id), view.graph[id].size);
  scored += cover.size();
  const StorageId victim = cover.first(need - (view.budget - view.used));
  return victim == kNoStorage ? std::nullopt : std::optional{Choice{victim}};
}

class Foresight final : public Policy {
 public:
  Foresight() : Policy{static_cast<Changes>(Change::Declared)} {}

  std::optional<Choice> choose(const View& view, Bytes need) override {
    return choose_by(score_, cover_, view, need, scored_);
  }
  void begin(const Graph& graph, const OpRecord& op,
             std::span<const std::uint32_t> /*mutated*/) override {
    score_.begin(graph, op);
  }
  void note(const Graph& /*graph*/, StorageId storage, Change /*change*/) override {
    score_.declare(storage);
  }
  [[nodiscard]] bool counts_lineage() const override { return true; }

 private:
  Score score_;
  Cover cover_;
};

// Where there are many candidates, scores them all only once in a while and hands out the lowest
// until then. So on average a choice costs as much as scoring a fixed number of them.
class Ranked final : public Policy {
 public:
  Ranked() : Policy{static_cast<Changes>(Change::Declared)} {}

  std::optional<Choice> choose(const View& view, Bytes need) override {
    if (view.candidates < 2 * kShare) ranked_.clear();
    if (score_.in_backward() == ranked_in_backward_)
      if (const std::optional<Choice> choice = next(view)) return choice;
    if (view.candidates >= 2 * kShare) return rank(view), next(view);
    return choose_by(score_, cover_, view, need, scored_);
  }
  void begin(const Graph& graph, const OpRecord& op,
             std::span<const std::uint32_t> /*mutated*/) override {
    score_.begin(graph, op);
  }
  void note(const Graph& /*graph*/, StorageId storage, Change /*change*/) override {
    score_.declare(storage);
    std::erase_if(ranked_, [&](const Entry& entry) { return entry.storage == storage; });
  }
  [[nodiscard]] bool counts_lineage() const override { return true; }

 private:
  static constexpr std::size_t kShare = 128;  // one in so many candidates goes by one ranking
  struct Entry {
    double score;
    StorageId storage;
  };

  std::optional<Choice> next(const View& view) {
    while (!ranked_.empty()) {
      const StorageId storage = ranked_.back().storage;
      ranked_.pop_back();
      if (view.graph[storage].place == Place::Candidate) return Choice{storage};
    }
    return std::nullopt;
  }

  void rank(const View& view) {
    score_.survey(view);
    ranked_in_backward_ = score_.in_backward();
    ranked_.clear();
    for (StorageId id : view.slots)
      if (id != kNoStorage) ranked_.push_back({score_(view.graph, id), id});
    scored_ += ranked_.size();
    std::ranges::stable_sort(ranked_, {}, &Entry::score);
    ranked_.resize(ranked_.size() / kShare);
    std::ranges::reverse(ranked_);
  }

  Score score_;
  Cover cover_;
  std::vector<Entry> ranked_;  // the next one last
  bool ranked_in_backward_ = false;
};

}  // namespace

std::unique_ptr<Policy> make_foresight(const PolicyInputs& /*inputs*/) {
  return std::make_unique<Foresight>();
}

std::unique_ptr<Policy> make_foresight_ranked(const PolicyInputs& /*inputs*/) {
  return std::make_unique<Ranked>();
}

}  // namespace weir::policy
