// What a search puts into the tier.
#include <algorithm>

#include "plan/search.h"

namespace weir::plan {
namespace {

constexpr std::int64_t kWorkOfASlot = 150;
constexpr std::int64_t kLeastPart = 1024;  // what is a smaller part of the peak is not worth a copy

}  // namespace

// So that it is away in this stage: before and after for as long as nobody waits for it, and at the
// price of waiting if there is no time for its copies.
std::optional<Search::CopyGap> Search::copyable(Stage stage, ValueId value) const {
  const Span hull = stays_.hull(value);
  if (stage < hull.first || stage > hull.last || spared_[index(value)].copied) return std::nullopt;
  if (problem_[value].size.n * kLeastPart < problem_.peak.n) return std::nullopt;
  if (!stays_.keeps(stage, value)) return std::nullopt;
  std::optional<CopyGap> found;
  if (const std::optional<Stays::CopyGap> gap = stays_.copy_gap_at(stage, value))
    found = copy_in(*gap, stage, value);
  if (!found || found->waits) {
    const std::optional<CopyGap> ends = copy_at_ends(stage, value);
    if (ends && (!found || !ends->waits)) found = ends;
  }
  if (found && is_pinned(value, found->away)) return std::nullopt;
  return found;
}

std::optional<Search::CopyGap> Search::copy_in(const Stays::CopyGap& gap, Stage stage,
                                               ValueId value) const {
  const Traffic& traffic = stays_.traffic();
  const Bytes size = problem_[value].size;
  const std::vector<Span>& before = stays_.copy(value).away;
  const bool has_copy = !before.empty() && before.front().first < gap.first;
  Traffic::Slot write{gap.first, gap.first};
  if (!has_copy) write = traffic.slot_for_write(size, gap.first);
  const Stage back = gap.comes_back ? traffic.slot_for_read(size, gap.end) : gap.end;
  const Span away{std::min(write.end, stage), std::max(back, stage + 1) - 1};
  const Stage offload = std::min(write.begin, away.first);
  const Span in_tier{has_copy ? away.first : offload, std::min(gap.end, problem_.end())};
  if (!traffic.has_room(size, in_tier)) return std::nullopt;
  return CopyGap{value, away, offload, write.end > stage || back <= stage};
}

// A storage that begins in the tier, and ends there: away in this stage, be it early or late.
std::optional<Search::CopyGap> Search::copy_at_ends(Stage stage, ValueId value) const {
  const auto [first, last] = stays_.ends_of(value);
  if (first == kNoValue || !stays_.keeps(0, first)) return std::nullopt;
  const Traffic& traffic = stays_.traffic();
  const Bytes size = problem_[first].size;
  const Stage read = std::min(stays_.next_use(0, first), problem_.end() + 1);
  const bool early = value == first && stage < read;
  const Stage least = early ? stage : 0;  // away up to this one
  const Stage back = read > problem_.end() ? read : traffic.slot_for_read(size, read);
  if (read == 0 || !traffic.has_room(size, {0, problem_.end()})) return std::nullopt;
  CopyGap found{first, {0, std::max(back, least + 1) - 1}, kNobody, back <= least};
  if (first == last && early) return found;
  const std::optional<Stays::CopyGap> gap = stays_.end_gap(last);
  if (!gap || (!early && stage < gap->first)) return std::nullopt;
  Traffic::Slot write{gap->first, gap->first};
  if (first != last) write = traffic.slot_for_write(size, gap->first);
  const Stage most = early ? problem_.end() : stage;  // away from this one on
  found.at_end = last;
  found.away_at_end = {std::min(write.end, most), problem_.end()};
  found.offload_at_end = std::min(write.begin, found.away_at_end.first);
  found.waits = found.waits || write.end > most;
  return found;
}

double Search::freed_by(const CopyGap& gap) const {
  const double freed = freed_in(gap.value, gap.away);
  return gap.at_end == kNoValue ? freed : freed + freed_in(gap.at_end, gap.away_at_end);
}

double Search::bound_of(const CopyGap& gap, Stage worst) {
  work_ += kWorkOfASlot;
  return copy_score(gap, worst, {});
}

double Search::score_of(const CopyGap& gap, Stage worst) {
  work_ += kWorkOfASlot;
  if (!gap.waits) return copy_score(gap, worst, {});
  const std::size_t mark = stays_.mark();
  const Nanos before = stays_.cost();
  apply(gap);
  const Nanos waited = std::max(Nanos{}, stays_.cost() - before);
  const bool sound = stays_.sound();
  stays_.undo(mark);
  if (!sound) return kNever;
  if (waited >= most_added()) {
    refused_ = true;
    return kNever;
  }
  return copy_score(gap, worst, waited);
}

// The link's time is worth something too: others could be copied instead.
double Search::copy_score(const CopyGap& gap, Stage worst, Nanos waited) {
  const Link& link = problem_.tier->link;
  const Bytes size = problem_[gap.value].size;
  const double freed = freed_by(gap);
  if (freed <= 0) return kNever;
  const Nanos copies = transfer_time(size, link.write) + transfer_time(size, link.read);
  const double cost = static_cast<double>(waited.n) + taste_.link * static_cast<double>(copies.n);
  return with_noise(cost + 1e-3) / freed_as_tasted(gap.value, worst, freed);
}

void Search::apply(const CopyGap& gap) {
  stays_.put_away(gap.value, gap.away, gap.offload);
  if (gap.at_end != kNoValue) stays_.put_away(gap.at_end, gap.away_at_end, gap.offload_at_end);
}

}  // namespace weir::plan
