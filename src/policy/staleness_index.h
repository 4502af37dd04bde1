#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "weir/types.h"

namespace weir::policy {

// Candidates kept so that one with a nearly lowest score, cost / (size * staleness), is found
// without looking at all of them, and so that adding and removing one takes constant time on
// average.
//
// A candidate is in a row by its density, cost / size: all in a row are within a factor kStep of
// each other. A row is cut into groups by last use, oldest first, such that the staleness of all in
// one group is within a factor kStep too: a new last use opens a new group, and neighbours are
// merged once they have aged enough. So the first candidate of the oldest group of each row stands
// for its row up to a factor kStep * kStep, and there are few rows and, in each, few groups.
class StalenessIndex {
 public:
  static constexpr double kStep = 1.19;

  StalenessIndex();

  void add(StorageId storage, Nanos cost, Bytes size, Nanos last_use, Nanos now);
  void remove(StorageId storage);
  [[nodiscard]] bool contains(StorageId storage) const {
    return index(storage) < members_.size() && members_[index(storage)].row != kNone;
  }
  [[nodiscard]] static std::uint32_t row_of(Nanos cost, Bytes size);
  [[nodiscard]] std::uint32_t row_of(StorageId storage) const {
    return members_[index(storage)].row;
  }

  // The one that stands for the row with the lowest score. `look(storage)` returns its score as it
  // is now, or nothing if it had to be moved to another row.
  template <typename Look>
  std::optional<StorageId> lowest(Nanos now, Look&& look);

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint32_t kRows = 1024;

  // A circular list; the group's own node is where it begins and ends. A member's node has the
  // number of its storage, a group's has kGroupBit set.
  struct Node {
    std::uint32_t previous, next, row;
  };
  static constexpr std::uint32_t kGroupBit = std::uint32_t{1} << 31;
  struct Group {
    Nanos first, last;  // last uses of its members lie between
    std::uint32_t node;
  };
  struct Row {
    std::vector<Group> groups;  // ascending by last use
    std::size_t empty = 0;      // groups at the front that are known to be empty
    std::size_t tidy_at = 16;
    std::uint32_t members = 0;
  };

  Node& node(std::uint32_t id) {
    return (id & kGroupBit) != 0 ? group_nodes_[id & ~kGroupBit] : members_[id];
  }
  std::uint32_t new_group_node();
  void free_group_node(std::uint32_t id);
  void link_before(std::uint32_t id, std::uint32_t next);
  void unlink(std::uint32_t id);
  std::uint32_t group_for(Row& row, Nanos last_use, Nanos now);
  void tidy(Row& row, Nanos now);
  void append(Group& older, const Group& newer);
  [[nodiscard]] static bool may_merge(const Group& older, const Group& newer, Nanos now);
  // The oldest group that has members; the row has some.
  Group& oldest(Row& row);
  // The first row from `row` on that has members, or kRows.
  [[nodiscard]] std::uint32_t next_filled(std::uint32_t row) const;
  // No member of the row is staler.
  [[nodiscard]] double staleness_of(std::uint32_t row, Nanos now) const {
    return static_cast<double>((now - oldest_use_[row]).n);
  }
  // Could a member of the row have a lower score?
  [[nodiscard]] bool promises_less_than(double score, std::uint32_t row, Nanos now) const {
    return lowest_density_[row] < score * staleness_of(row, now);
  }
  template <typename Look>
  void look_at(std::uint32_t row, Nanos now, Look&& look, double& best,
               std::optional<StorageId>& found);

  std::array<Row, kRows> rows_;
  std::array<double, kRows> lowest_density_{};      // of the members of a row
  std::array<Nanos, kRows> oldest_use_{};           // no member of the row was last used before
  std::array<std::uint64_t, kRows / 64> filled_{};  // a bit for each row with members
  std::vector<Node> members_;                       // by storage; row kNone: not a member
  std::vector<Node> group_nodes_;
  std::uint32_t free_group_node_ = kNone;
};

template <typename Look>
std::optional<StorageId> StalenessIndex::lowest(Nanos now, Look&& look) {
  double best = std::numeric_limits<double>::infinity();
  std::optional<StorageId> found;
  // The row that promises most comes first: most of the others then need no look.
  std::uint32_t most_promising = kRows;
  double density = 1, staleness = 0;
  for (std::uint32_t word = 0; word < filled_.size(); ++word) {
    for (std::uint64_t bits = filled_[word]; bits != 0; bits &= bits - 1) {
      const std::uint32_t r = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      const double oldest = staleness_of(r, now);
      if (lowest_density_[r] * staleness >= density * oldest && most_promising != kRows) continue;
      most_promising = r;
      density = lowest_density_[r];
      staleness = oldest;
    }
  }
  look_at(most_promising, now, look, best, found);
  // While nothing is found every row counts: who moved, moved up, and what was used just now
  // promises nothing.
  for (std::uint32_t r = next_filled(0); r < kRows; r = next_filled(r + 1))
    if (!found || (r != most_promising && promises_less_than(best, r, now)))
      look_at(r, now, look, best, found);
  return found;
}

template <typename Look>
void StalenessIndex::look_at(std::uint32_t r, Nanos now, Look&& look, double& best,
                             std::optional<StorageId>& found) {
  // Who moved away may have left the row empty.
  while (r < kRows && rows_[r].members != 0) {
    const Group& group = oldest(rows_[r]);
    oldest_use_[r] = group.first;
    const StorageId first{node(group.node).next};
    if (found && !promises_less_than(best, r, now)) return;
    const std::optional<double> score = look(first);
    if (!score) continue;
    if (!found || *score < best) {
      best = *score;
      found = first;
    }
    return;
  }
}

}  // namespace weir::policy
