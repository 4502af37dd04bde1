#include "sim/future.h"

#include <algorithm>
#include <numeric>

namespace weir::sim {

namespace {

template <typename Visit>
void for_each_use(const Trace& trace, Visit&& visit) {
  for (std::size_t event = 0; event < trace.events.size(); ++event) {
    const auto [kind, item] = trace.events[event];
    if (kind == EventKind::Keep) visit(trace.tensors[item].storage, event);
    if (kind != EventKind::Op) continue;
    for (TensorId input : trace.inputs_of(trace.ops[item]))
      visit(trace.tensors[index(input)].storage, event);
  }
}

}  // namespace

TraceFuture::TraceFuture(const Trace& trace) : first_(trace.storages.size() + 1, 0) {
  for_each_use(trace, [&](StorageId storage, std::size_t) { ++first_[index(storage) + 1]; });
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  uses_.resize(first_.back());
  std::vector<std::uint32_t> end(first_.begin(), first_.end() - 1);
  for_each_use(trace, [&](StorageId storage, std::size_t event) {
    uses_[end[index(storage)]++] = static_cast<std::uint32_t>(event);
  });
}

std::uint64_t TraceFuture::next_use(StorageId storage) const {
  const auto begin = uses_.begin() + first_[index(storage)];
  const auto end = uses_.begin() + first_[index(storage) + 1];
  const auto next = std::upper_bound(begin, end, event_);
  return next == end ? kNever : *next;
}

}  // namespace weir::sim
