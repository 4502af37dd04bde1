#include "policy/make.h"
#include "policy/scored.h"

namespace weir::policy {

namespace {

class Lru final : public Policy {
 public:
  std::optional<Choice> choose(const View& view, Bytes /*need*/) override {
    return lowest(view, scored_, [&](StorageId id, double /*best*/) {
      return static_cast<double>(view.graph[id].last_use.n);
    });
  }
};

}  // namespace

std::unique_ptr<Policy> make_lru(const PolicyInputs& /*inputs*/) { return std::make_unique<Lru>(); }

}  // namespace weir::policy
