#include "pilot/plan_cache.h"

#include <algorithm>
#include <utility>

namespace weir::pilot {

PlanCache::Entry* PlanCache::find(std::uint64_t step, Bytes budget) {
  const auto found = std::ranges::find_if(
      entries_, [&](const Entry& entry) { return entry.step == step && entry.budget == budget; });
  if (found == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found);
  return &entries_.front();
}

void PlanCache::add(Entry entry) {
  if (find(entry.step, entry.budget) != nullptr) entries_.pop_front();
  entries_.push_front(std::move(entry));
  if (entries_.size() > kMost) entries_.pop_back();
}

std::shared_ptr<const Guide> PlanCache::find_for(std::uint32_t op, std::uint64_t digest,
                                                 Bytes budget) const {
  for (const Entry& entry : entries_)
    if (entry.guide && entry.budget == budget && entry.guide->fits(op, digest)) return entry.guide;
  return nullptr;
}

}  // namespace weir::pilot
