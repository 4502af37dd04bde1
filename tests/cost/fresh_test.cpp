#include "cost/fresh.h"

#include <gtest/gtest.h>

#include <numeric>

#include "trace/builder.h"
#include "trace/generate.h"

namespace weir::cost::test {
namespace {

using trace::TraceBuilder;

constexpr std::int64_t kMiB = 1 << 20;

// Makes what has these sizes, all of it held at once, and lets go of it, the last first; so often.
std::vector<std::int64_t> fresh_of(const std::vector<std::int64_t>& sizes, int times) {
  TraceBuilder builder{ViewRule::Keep, "made here"};
  for (int i = 0; i < times; ++i) {
    std::vector<TensorId> made;
    for (const std::int64_t size : sizes) {
      const trace::Output output{.size = {size}};
      made.push_back(builder.op({.name = "make", .outputs = {&output, 1}}));
    }
    for (auto tensor = made.rbegin(); tensor != made.rend(); ++tensor) builder.release(*tensor);
  }
  const Trace trace = std::move(builder).finish();
  std::vector<std::int64_t> fresh;
  for (const Bytes bytes : fresh_pages(trace, {0, trace.events.size()})) fresh.push_back(bytes.n);
  return fresh;
}

using Fresh = std::vector<std::int64_t>;

TEST(FreshPages, AreGivenToWhatIsLargeEveryTime) {
  EXPECT_EQ(fresh_of({64 * kMiB}, 3), (Fresh{64 * kMiB, 64 * kMiB, 64 * kMiB}));
}

TEST(FreshPages, AreGivenToCopiesAsWell) {
  TraceBuilder builder{ViewRule::Keep, "made here"};
  const trace::Output output{.size = {64 * kMiB}};
  builder.op({.name = "make", .outputs = {&output, 1}});
  const Trace trace = std::move(builder).finish();
  OpWork work;
  work.cpu.copies = {{40 * kMiB}, {1024}};
  EXPECT_EQ(fresh_pages(trace, {0, trace.events.size()}, {&work, 1})[0], Bytes{104 * kMiB});
}

TEST(FreshPages, AreNotNeededWhereSomethingWasFreed) {
  // The first one is a mapping of its own; freed, it makes the heap serve its size.
  EXPECT_EQ(fresh_of({kMiB}, 4), (Fresh{kMiB, kMiB, 0, 0}));
}

TEST(FreshPages, AreNeededAnewOnceTheHeapHasShrunk) {
  const Fresh fresh = fresh_of(Fresh(16, 8 * kMiB), 4);
  const std::int64_t last = std::accumulate(fresh.end() - 16, fresh.end(), std::int64_t{0});
  EXPECT_GT(last, 100 * kMiB);
  EXPECT_LE(last, 128 * kMiB);
}

TEST(FreshPages, AreNeverMoreThanWhatIsMade) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Trace trace = trace::training_step(seed, {.steps = 3});
    const std::vector<Bytes> fresh = fresh_pages(trace, {0, trace.events.size()});
    for (std::size_t i = 0; i < trace.ops.size(); ++i) {
      Bytes made{};
      for (const TraceTensor& output : trace.outputs_of(trace.ops[i]))
        made += trace.storages[index(output.storage)].size;
      EXPECT_GE(fresh[i], Bytes{0});
      EXPECT_LE(fresh[i], made) << "seed " << seed << ", op " << i;
    }
  }
}

}  // namespace
}  // namespace weir::cost::test
