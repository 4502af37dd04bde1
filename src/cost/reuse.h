#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cost/blocks.h"
#include "cost/step.h"

namespace weir::cost {

// From one touch of an item to the next. Between the two touches of the line at place x of the item
// (0: its beginning, 1: its end), `at_begin + x * (at_end - at_begin)` different bytes are touched,
// the line's own included. So under LRU it is still there at the second touch if, and only if, the
// cache holds as many.
struct Gap {
  std::uint32_t item;
  std::uint32_t from, to;  // sweeps
  double at_begin, at_end;
  bool read;  // the second touch reads, so what is not there is fetched
  Scope scope;
  bool beyond_block;

  // The share of the item that is still there.
  [[nodiscard]] double hits(double capacity) const;
};

// What a sweep wrote to an item, up to when it is written anew. Dirty lines that do not stay in the
// cache over all of its gaps are written back, once; those of an item that is dead afterwards
// vanish with its last use.
struct Version {
  std::uint32_t item;
  std::uint32_t writer;        // a sweep
  std::uint32_t first, count;  // range of Reuse::version_gaps
  bool lasts;                  // wanted after the step: written back in any case
};

struct FirstRead {  // of what came from outside of the step
  std::uint32_t item, sweep;
};

struct Reuse {
  std::vector<Gap> gaps;  // ascending by `to`
  std::vector<Version> versions;
  std::vector<std::uint32_t> version_gaps;
  std::vector<FirstRead> first_reads;

  [[nodiscard]] std::span<const std::uint32_t> gaps_of(const Version& version) const {
    return std::span(version_gaps).subspan(version.first, version.count);
  }
};

// One pass over the step, O(n log n).
[[nodiscard]] Reuse reuse_of(const Step& step, const Blocks& blocks);

// A stretch of an item, the gap that asks most of the cache there, and how much at both ends.
struct Stretch {
  double begin, end;
  double need_at_begin, need_at_end;
  std::uint32_t gap;
};

// The whole item from 0 to 1: a version with gaps is written back where it needs more than there
// is.
[[nodiscard]] std::vector<Stretch> hardest(const Reuse& reuse, const Version& version);

// The share of the version's bytes that is written back.
[[nodiscard]] double written_back(const Reuse& reuse, const Version& version, double capacity);

// What each op moves from and to memory. What is written back counts for the op that wrote it.
struct OpTraffic {
  double read = 0, write = 0;
};
[[nodiscard]] std::vector<OpTraffic> traffic_by_op(const Step& step, const Reuse& reuse,
                                                   double capacity);

}  // namespace weir::cost
