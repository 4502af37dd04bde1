#include "cost/reuse.h"

#include <algorithm>
#include <utility>

#include "cost/fenwick.h"

namespace weir::cost {
namespace {

constexpr std::uint32_t kNever = UINT32_MAX;

// Bytes touched at one end of a gap and in between: the numbers of which all distances are made.
struct Around {
  std::int64_t between;  // in sweeps that lie between the two
  std::int64_t both;     // in both of them, and not between
  std::int64_t only_from, only_to;
};

// Lines at the beginning of an item and at its end; in between it is linear.
std::pair<double, double> distances(const Around& around, bool from_backwards, bool to_backwards) {
  const auto least = static_cast<double>(around.between);
  const auto both = static_cast<double>(around.both);
  const auto from = static_cast<double>(around.only_from), to = static_cast<double>(around.only_to);
  if (from_backwards != to_backwards) {  // what was touched last is wanted first
    const double most = least + both + from + to;
    return from_backwards ? std::pair{least, most} : std::pair{most, least};
  }
  const double first = least + both + from, last = least + both + to;
  return from_backwards ? std::pair{last, first} : std::pair{first, last};
}

class Walk {
 public:
  Walk(const Step& step, const Blocks& blocks)
      : step_{step},
        blocks_{blocks},
        latest_(step.sweeps.size()),
        bytes_at_(step.sweeps.size(), 0),
        last_(step.items.size(), kNever),
        open_(step.items.size()) {}

  Reuse run() && {
    for (std::uint32_t i = 0; i < step_.sweeps.size(); ++i) sweep(i);
    for (std::uint32_t item = 0; item < open_.size(); ++item)
      if (open_[item].writer != kNever) close(item, step_.items[item].lasts);
    return std::move(reuse_);
  }

 private:
  struct Open {  // the latest version of an item
    std::uint32_t writer = kNever;
    std::vector<std::uint32_t> gaps = {};
  };
  struct Group {  // the sweep's items that were last touched in one earlier sweep
    std::uint32_t last;
    std::int64_t bytes;
    std::int64_t earlier;  // those last touched before that, or never
  };

  [[nodiscard]] std::int64_t bytes(std::uint32_t item) const { return step_.items[item].bytes.n; }

  void sweep(std::uint32_t now) {
    const auto accesses = step_.accesses_of(step_.sweeps[now]);
    group(accesses);
    for (const Access& access : accesses) touch(now, access);
    for (const Access& access : accesses) {
      move(last_[access.item], -bytes(access.item));
      last_[access.item] = now;
      move(now, bytes(access.item));
    }
  }

  void move(std::uint32_t sweep, std::int64_t amount) {
    if (sweep == kNever) return;
    latest_.add(sweep, amount);
    bytes_at_[sweep] += amount;
  }

  void group(std::span<const Access> accesses) {
    groups_.clear();
    std::int64_t never = 0;
    for (const Access& access : accesses) {
      const std::uint32_t last = last_[access.item];
      if (last == kNever)
        never += bytes(access.item);
      else
        groups_.push_back({last, bytes(access.item), 0});
    }
    std::ranges::sort(groups_, {}, &Group::last);
    std::size_t kept = 0;
    for (const Group& group : groups_) {
      if (kept > 0 && groups_[kept - 1].last == group.last)
        groups_[kept - 1].bytes += group.bytes;
      else
        groups_[kept++] = group;
    }
    groups_.resize(kept);
    for (Group& group : groups_) {
      group.earlier = never;
      never += group.bytes;
    }
  }

  void touch(std::uint32_t now, const Access& access) {
    const std::uint32_t last = last_[access.item];
    Open& open = open_[access.item];
    if (last == kNever) {
      if (access.read) reuse_.first_reads.push_back({access.item, now});
    } else {
      if (open.writer != kNever)
        open.gaps.push_back(static_cast<std::uint32_t>(reuse_.gaps.size()));
      reuse_.gaps.push_back(gap(last, now, access));
    }
    if (!access.write) return;
    if (open.writer != kNever) close(access.item, false);
    open.writer = now;
  }

  [[nodiscard]] Gap gap(std::uint32_t from, std::uint32_t to, const Access& access) const {
    const auto group = std::ranges::lower_bound(groups_, from, {}, &Group::last);
    auto [at_begin, at_end] = distances({.between = latest_.between(from + 1, to),
                                         .both = group->bytes,
                                         .only_from = bytes_at_[from] - group->bytes,
                                         .only_to = group->earlier},
                                        step_.sweeps[from].backwards, step_.sweeps[to].backwards);
    const std::uint32_t from_op = step_.sweeps[from].op, to_op = step_.sweeps[to].op;
    if (from_op == to_op && step_.ops[to_op].on_cpu) {
      const auto parts = static_cast<double>(step_.ops[to_op].cpu.parts);
      at_begin /= parts;
      at_end /= parts;
    }
    return {access.item,
            from,
            to,
            at_begin,
            at_end,
            access.read,
            blocks_.scope(from_op, to_op),
            blocks_.beyond_block(from_op, to_op)};
  }

  void close(std::uint32_t item, bool lasts) {
    Open& open = open_[item];
    reuse_.versions.push_back({item, open.writer,
                               static_cast<std::uint32_t>(reuse_.version_gaps.size()),
                               static_cast<std::uint32_t>(open.gaps.size()), lasts});
    reuse_.version_gaps.insert(reuse_.version_gaps.end(), open.gaps.begin(), open.gaps.end());
    open.gaps.clear();
    open.writer = kNever;
  }

  const Step& step_;
  const Blocks& blocks_;
  Reuse reuse_;
  Fenwick latest_;                      // bytes of the items last touched in each sweep
  std::vector<std::int64_t> bytes_at_;  // the same, plain
  std::vector<std::uint32_t> last_;     // the sweep that touched the item last
  std::vector<Open> open_;
  std::vector<Group> groups_;  // ascending by `last`
};

struct Line {
  double at_begin, at_end;
  std::uint32_t gap;

  [[nodiscard]] double slope() const { return at_end - at_begin; }
  // Where it crosses one that rises faster.
  [[nodiscard]] double crossing(const Line& steeper) const {
    return (at_begin - steeper.at_begin) / (steeper.slope() - slope());
  }
};

// The upper envelope over [0, 1] of lines that ascend by slope.
std::vector<Line> envelope(std::span<const Line> lines) {
  std::vector<Line> hull;
  for (const Line& line : lines) {
    if (!hull.empty() && hull.back().slope() == line.slope()) {
      if (hull.back().at_begin >= line.at_begin) continue;
      hull.pop_back();
    }
    while (hull.size() >= 2 &&
           hull.back().crossing(line) <= hull[hull.size() - 2].crossing(hull.back()))
      hull.pop_back();
    hull.push_back(line);
  }
  return hull;
}

}  // namespace

double Gap::hits(double capacity) const {
  const auto [low, high] = std::minmax(at_begin, at_end);
  if (high <= capacity) return 1;
  return low >= capacity ? 0 : (capacity - low) / (high - low);
}

Reuse reuse_of(const Step& step, const Blocks& blocks) { return Walk{step, blocks}.run(); }

std::vector<Stretch> hardest(const Reuse& reuse, const Version& version) {
  std::vector<Line> lines;
  for (const std::uint32_t id : reuse.gaps_of(version))
    lines.push_back({reuse.gaps[id].at_begin, reuse.gaps[id].at_end, id});
  std::ranges::sort(lines, {}, &Line::slope);
  const std::vector<Line> hull = envelope(lines);
  std::vector<Stretch> stretches;
  double begin = 0;
  for (std::size_t i = 0; i < hull.size() && begin < 1; ++i) {
    const bool last = i + 1 == hull.size();
    const double end = last ? 1 : std::clamp(hull[i].crossing(hull[i + 1]), begin, 1.0);
    if (end <= begin) continue;
    const Line& line = hull[i];
    stretches.push_back({begin, end, line.at_begin + begin * line.slope(),
                         line.at_begin + end * line.slope(), line.gap});
    begin = end;
  }
  return stretches;
}

double written_back(const Reuse& reuse, const Version& version, double capacity) {
  if (version.lasts) return 1;
  double stays = version.count == 0 ? 1 : 0;
  for (const Stretch& stretch : hardest(reuse, version)) {
    const Gap need{.item = 0,
                   .from = 0,
                   .to = 0,
                   .at_begin = stretch.need_at_begin,
                   .at_end = stretch.need_at_end,
                   .read = false,
                   .scope = {},
                   .beyond_block = false};
    stays += (stretch.end - stretch.begin) * need.hits(capacity);
  }
  return 1 - stays;
}

std::vector<OpTraffic> traffic_by_op(const Step& step, const Reuse& reuse, double capacity) {
  std::vector<OpTraffic> ops(step.ops.size());
  const auto bytes = [&](std::uint32_t item) {
    return static_cast<double>(step.items[item].bytes.n);
  };
  for (const FirstRead& first : reuse.first_reads)
    ops[step.sweeps[first.sweep].op].read += bytes(first.item);
  for (const Gap& gap : reuse.gaps)
    if (gap.read) ops[step.sweeps[gap.to].op].read += bytes(gap.item) * (1 - gap.hits(capacity));
  for (const Version& version : reuse.versions)
    ops[step.sweeps[version.writer].op].write +=
        bytes(version.item) * written_back(reuse, version, capacity);
  return ops;
}

}  // namespace weir::cost
