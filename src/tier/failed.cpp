#include "tier/failed.h"

#include <string>
#include <utility>

namespace weir::tier {
namespace {

class Failed final : public Transfer::Work {
 public:
  explicit Failed(std::string text) : text_{std::move(text)} {}
  [[nodiscard]] bool done() const override { return true; }
  void wait() override { throw TierError{text_}; }

 private:
  std::string text_;
};

}  // namespace

Transfer failed(const TierError& error) { return Transfer{std::make_unique<Failed>(error.what())}; }

}  // namespace weir::tier
