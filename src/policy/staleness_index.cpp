#include "policy/staleness_index.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace weir::policy {

namespace {
constexpr int kRowsPerOctave = 8;
constexpr int kMiddle = 512;  // the row of density 1
}  // namespace

std::uint32_t StalenessIndex::row_of(Nanos cost, Bytes size) {
  if (cost.n <= 0) return 0;
  if (size.n <= 0) return kRows - 1;
  const double density = static_cast<double>(cost.n) / static_cast<double>(size.n);
  const int row = kMiddle + static_cast<int>(std::floor(std::log2(density) * kRowsPerOctave));
  return static_cast<std::uint32_t>(std::clamp(row, 1, static_cast<int>(kRows) - 2));
}

StalenessIndex::StalenessIndex() {
  // Row 0 has no cost at all, row 1 everything that is too cheap for the others.
  for (std::uint32_t r = 2; r < kRows; ++r)
    lowest_density_[r] =
        std::exp2(static_cast<double>(static_cast<int>(r) - kMiddle) / kRowsPerOctave);
}

std::uint32_t StalenessIndex::next_filled(std::uint32_t row) const {
  if (row >= kRows) return kRows;
  std::uint64_t bits = filled_[row / 64] >> (row % 64) << (row % 64);
  for (std::uint32_t word = row / 64;; bits = filled_[word]) {
    if (bits != 0) return word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
    if (++word == filled_.size()) return kRows;
  }
}

void StalenessIndex::add(StorageId storage, Nanos cost, Bytes size, Nanos last_use, Nanos now) {
  if (members_.size() <= index(storage)) members_.resize(index(storage) + 1, {0, 0, kNone});
  const std::uint32_t r = row_of(cost, size);
  link_before(index(storage), group_for(rows_[r], last_use, now));
  members_[index(storage)].row = r;
  if (rows_[r].members++ == 0) {
    filled_[r / 64] |= std::uint64_t{1} << (r % 64);
    oldest_use_[r] = last_use;
  }
  oldest_use_[r] = std::min(oldest_use_[r], last_use);
}

void StalenessIndex::remove(StorageId storage) {
  unlink(index(storage));
  const std::uint32_t r = std::exchange(members_[index(storage)].row, kNone);
  if (--rows_[r].members == 0) filled_[r / 64] &= ~(std::uint64_t{1} << (r % 64));
}

std::uint32_t StalenessIndex::new_group_node() {
  std::uint32_t at = free_group_node_;
  if (at != kNone) {
    free_group_node_ = group_nodes_[at].next;
  } else {
    at = static_cast<std::uint32_t>(group_nodes_.size());
    group_nodes_.emplace_back();
  }
  group_nodes_[at] = {.previous = at | kGroupBit, .next = at | kGroupBit, .row = kNone};
  return at | kGroupBit;
}

void StalenessIndex::free_group_node(std::uint32_t id) {
  node(id).next = std::exchange(free_group_node_, id & ~kGroupBit);
}

void StalenessIndex::link_before(std::uint32_t id, std::uint32_t next) {
  const std::uint32_t previous = node(next).previous;
  node(id).previous = previous;
  node(id).next = next;
  node(previous).next = node(next).previous = id;
}

void StalenessIndex::unlink(std::uint32_t id) {
  const Node gone = node(id);
  node(gone.previous).next = gone.next;
  node(gone.next).previous = gone.previous;
}

std::uint32_t StalenessIndex::group_for(Row& row, Nanos last_use, Nanos now) {
  if (row.groups.size() >= row.tidy_at) tidy(row, now);
  auto at = row.groups.end();
  if (!row.groups.empty() && last_use <= row.groups.back().last)
    at = std::ranges::lower_bound(row.groups, last_use, {}, &Group::last);
  if (at != row.groups.end() && at->first <= last_use) {
    row.empty = std::min(row.empty, static_cast<std::size_t>(at - row.groups.begin()));
    return at->node;
  }
  row.empty = std::min(row.empty, static_cast<std::size_t>(at - row.groups.begin()));
  const Group group{.first = last_use, .last = last_use, .node = new_group_node()};
  row.groups.insert(at, group);
  return group.node;
}

bool StalenessIndex::may_merge(const Group& older, const Group& newer, Nanos now) {
  const auto most = static_cast<double>((now - older.first).n);
  const auto least = static_cast<double>((now - newer.last).n);
  return most <= kStep * least;
}

// Drops empty groups and merges neighbours where the staleness allows it. The number of groups left
// depends on the range of staleness only, so over all additions this costs a constant each.
void StalenessIndex::tidy(Row& row, Nanos now) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < row.groups.size(); ++i) {
    const Group group = row.groups[i];
    if (node(group.node).next == group.node) {
      free_group_node(group.node);
    } else if (kept != 0 && may_merge(row.groups[kept - 1], group, now)) {
      append(row.groups[kept - 1], group);
    } else {
      row.groups[kept++] = group;
    }
  }
  row.groups.resize(kept);
  row.empty = 0;
  row.tidy_at = std::max<std::size_t>(16, 2 * kept);
}

void StalenessIndex::append(Group& older, const Group& newer) {
  const std::uint32_t first = node(newer.node).next, last = node(newer.node).previous;
  const std::uint32_t before = node(older.node).previous;
  node(before).next = first;
  node(first).previous = before;
  node(last).next = older.node;
  node(older.node).previous = last;
  older.last = newer.last;
  free_group_node(newer.node);
}

StalenessIndex::Group& StalenessIndex::oldest(Row& row) {
  while (node(row.groups[row.empty].node).next == row.groups[row.empty].node) ++row.empty;
  return row.groups[row.empty];
}

}  // namespace weir::policy
