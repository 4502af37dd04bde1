#include "cost/curve.h"

#include <algorithm>
#include <limits>

namespace weir::cost {

void Ramps::add(double low, double high, double amount) {
  if (high < low) std::swap(low, high);
  if (high - low < 1) {  // less than a byte: at once
    corners_.push_back({high, amount, 0});
    return;
  }
  const double slope = amount / (high - low);
  corners_.push_back({low, 0, slope});
  corners_.push_back({high, 0, -slope});
}

void Ramps::finish() {
  std::ranges::sort(corners_, {}, &Corner::at);
  std::size_t kept = 0;
  for (const Corner& corner : corners_) {
    if (kept > 0 && corners_[kept - 1].at == corner.at) {
      corners_[kept - 1].value += corner.value;
      corners_[kept - 1].slope += corner.slope;
    } else {
      corners_[kept++] = corner;
    }
  }
  corners_.resize(kept);
  long double value = 0, slope = 0;
  double before = 0;
  for (Corner& corner : corners_) {
    value += slope * (corner.at - before) + corner.value;
    slope += corner.slope;
    before = corner.at;
    corner.value = static_cast<double>(value);
    corner.slope = static_cast<double>(slope);
  }
}

double Ramps::at(double capacity) const {
  const auto after = std::ranges::upper_bound(corners_, capacity, {}, &Corner::at);
  if (after == corners_.begin()) return 0;
  const Corner& corner = *std::prev(after);
  return corner.value + (after == corners_.end() ? 0 : corner.slope * (capacity - corner.at));
}

std::vector<double> Ramps::corners() const {
  std::vector<double> all;
  all.reserve(corners_.size());
  for (const Corner& corner : corners_) all.push_back(corner.at);
  return all;
}

MissCurve::MissCurve(const Step& step, const Reuse& reuse) {
  const auto bytes = [&](std::uint32_t item) {
    return static_cast<double>(step.items[item].bytes.n);
  };
  for (const FirstRead& first : reuse.first_reads) reads_ += bytes(first.item);
  for (const Gap& gap : reuse.gaps) {
    if (!gap.read) continue;
    reads_ += bytes(gap.item);
    save(gap, gap.at_begin, gap.at_end, bytes(gap.item), false);
  }
  for (const Version& version : reuse.versions) {
    writes_ += bytes(version.item);
    if (version.lasts) continue;
    for (const Stretch& stretch : hardest(reuse, version))
      save(reuse.gaps[stretch.gap], stretch.need_at_begin, stretch.need_at_end,
           bytes(version.item) * (stretch.end - stretch.begin), true);
    if (version.count == 0)  // nobody reads it: it needs no room
      saved_writes_[static_cast<std::size_t>(Scope::IntraOp)].add(0, 0, bytes(version.item));
  }
  for (Ramps& ramps : saved_reads_) ramps.finish();
  for (Ramps& ramps : saved_writes_) ramps.finish();
  beyond_block_.finish();
}

void MissCurve::save(const Gap& gap, double low, double high, double amount, bool write) {
  const auto scope = static_cast<std::size_t>(gap.scope);
  (write ? saved_writes_ : saved_reads_)[scope].add(low, high, amount);
  if (gap.beyond_block) beyond_block_.add(low, high, amount);
}

Traffic MissCurve::at(double capacity) const {
  Traffic traffic{.read = reads_, .write = writes_};
  for (std::size_t scope = 0; scope < kScopes; ++scope) {
    const double reads = saved_reads_[scope].at(capacity);
    const double writes = saved_writes_[scope].at(capacity);
    traffic.read -= reads;
    traffic.write -= writes;
    traffic.saved[scope] = reads + writes;
  }
  traffic.read = std::max(0.0, traffic.read);  // what sums of fractions leave over
  traffic.write = std::max(0.0, traffic.write);
  traffic.beyond_block = beyond_block_.at(capacity);
  return traffic;
}

double MissCurve::compulsory() const { return at(std::numeric_limits<double>::max()).total(); }

std::vector<double> MissCurve::corners() const {
  std::vector<double> all;
  for (const auto* side : {&saved_reads_, &saved_writes_})
    for (const Ramps& ramps : *side) {
      const std::vector<double> some = ramps.corners();
      all.insert(all.end(), some.begin(), some.end());
    }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

}  // namespace weir::cost
