#include <limits>

#include "policy/make.h"
#include "policy/ratio.h"
#include "policy/staleness_index.h"

namespace weir::policy {

namespace {

class LocalIndexed final : public Policy {
 public:
  LocalIndexed() : Policy{Change::Offered | Change::Withdrawn | Change::Grown | Change::Lost} {}

  [[nodiscard]] bool catches_up() const override { return true; }

  std::optional<Choice> choose(const View& view, Bytes /*need*/) override {
    now_ = view.now;
    const auto victim = index_.lowest(now_, [&](StorageId id) -> std::optional<double> {
      ++scored_;
      const Storage& s = view.graph[id];
      return score(s.cost, s.size, now_ - s.last_use);
    });
    return victim ? std::optional{Choice{*victim}} : std::nullopt;
  }

  void note(const Graph& graph, StorageId storage, Change change) override {
    if (change != Change::Offered && !index_.contains(storage)) return;
    if (change != Change::Offered) index_.remove(storage);
    if (change == Change::Withdrawn) return;
    const Storage& s = graph[storage];
    now_ = std::max(now_, s.last_use);
    index_.add(storage, s.cost, s.size, s.last_use, now_);
  }

 private:
  StalenessIndex index_;
  Nanos now_;
};

}  // namespace

std::unique_ptr<Policy> make_h_dtr_local_indexed(const PolicyInputs& /*inputs*/) {
  return std::make_unique<LocalIndexed>();
}

}  // namespace weir::policy
