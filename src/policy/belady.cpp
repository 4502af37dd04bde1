#include "policy/make.h"
#include "policy/scored.h"

namespace weir::policy {

namespace {

class Belady final : public Policy {
 public:
  explicit Belady(const Predictor& future) : future_{future} {}

  std::optional<Choice> choose(const View& view, Bytes /*need*/) override {
    std::optional<Choice> choice;
    std::uint64_t latest = 0;
    for (StorageId candidate : view.slots) {
      if (candidate == kNoStorage) continue;
      ++scored_;
      const std::uint64_t next = future_.next_use(candidate);
      if (choice && next < latest) continue;
      latest = next;
      choice = Choice{candidate};
    }
    return choice;
  }

 private:
  const Predictor& future_;
};

}  // namespace

std::unique_ptr<Policy> make_belady(const PolicyInputs& inputs) {
  return std::make_unique<Belady>(*inputs.future);
}

}  // namespace weir::policy
