#include "cost/tensor_lru.h"

#include <algorithm>

#include "cost/fenwick.h"

namespace weir::cost {
namespace {

constexpr std::uint32_t kNever = UINT32_MAX;

struct State {
  std::uint32_t last = kNever;  // the access that touched it last
  bool dirty = false;
  double hardest = 0;  // the longest distance since it was written
};

}  // namespace

TensorLru::TensorLru(const Step& step) {
  Fenwick latest{step.accesses.size()};
  std::vector<State> states(step.items.size());
  const auto write = [&](const State& state, double bytes, bool lasts) {
    no_reuse_ += bytes;
    if (!lasts) saved_.add(state.hardest, state.hardest, bytes);
  };
  for (std::uint32_t now = 0; now < step.accesses.size(); ++now) {
    const Access& access = step.accesses[now];
    const std::int64_t size = step.items[access.item].bytes.n;
    const auto bytes = static_cast<double>(size);
    State& state = states[access.item];
    if (access.read) no_reuse_ += bytes;
    if (state.last != kNever) {
      const auto distance = static_cast<double>(latest.between(state.last + 1, now) + size);
      if (access.read) saved_.add(distance, distance, bytes);
      state.hardest = std::max(state.hardest, distance);
      latest.add(state.last, -size);
    }
    if (access.write) {
      if (state.dirty) write(state, bytes, false);
      state.dirty = true;
      state.hardest = 0;
    }
    state.last = now;
    latest.add(now, size);
  }
  for (std::size_t item = 0; item < states.size(); ++item)
    if (states[item].dirty)
      write(states[item], static_cast<double>(step.items[item].bytes.n), step.items[item].lasts);
  saved_.finish();
}

}  // namespace weir::cost
