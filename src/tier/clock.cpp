#include "tier/clock.h"

#include <chrono>
#include <thread>

namespace weir::tier {
namespace {

using Steady = std::chrono::steady_clock;

class SteadyClock final : public Clock {
 public:
  [[nodiscard]] Nanos now() const override {
    return {std::chrono::nanoseconds{Steady::now().time_since_epoch()}.count()};
  }
  void sleep_until(Nanos time) const override {
    std::this_thread::sleep_until(Steady::time_point{std::chrono::nanoseconds{time.n}});
  }
};

}  // namespace

const Clock& steady_clock() {
  static const SteadyClock clock;
  return clock;
}

}  // namespace weir::tier
