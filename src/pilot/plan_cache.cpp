#include "pilot/plan_cache.h"

#include <algorithm>
#include <utility>

#include "pilot/archive.h"

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

namespace {

// But for the plan.
template <typename Archive, typename Entry>
void head_of(Archive& archive, Entry& entry) {
  archive(entry.step, entry.budget, entry.online, entry.margin);
}

}  // namespace

void PlanCache::fields(ArchiveWriter& archive, const PlanCache& cache) {
  archive(std::uint64_t{cache.entries_.size()});
  for (const Entry& entry : cache.entries_) {
    head_of(archive, entry);
    archive(entry.guide != nullptr);
    if (entry.guide) archive(*entry.guide);
  }
}

void PlanCache::fields(ArchiveReader& archive, PlanCache& cache) {
  std::uint64_t count = 0;
  for (archive(count); count > 0; --count) {
    Entry entry;
    bool has_guide = false;
    head_of(archive, entry);
    archive(has_guide);
    if (has_guide) entry.guide = std::make_shared<const Guide>(Guide::load(archive));
    if (cache.entries_.size() < kMost) cache.entries_.push_back(std::move(entry));
  }
}

std::shared_ptr<const Guide> PlanCache::find_for(std::uint32_t op, std::uint64_t digest,
                                                 Bytes budget) const {
  for (const Entry& entry : entries_)
    if (entry.guide && entry.budget == budget && entry.guide->fits(op, digest)) return entry.guide;
  return nullptr;
}

}  // namespace weir::pilot
