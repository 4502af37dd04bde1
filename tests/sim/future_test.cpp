#include "sim/future.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace weir::sim {
namespace {

// x, y = f(x), z = g(x, y), keep z: events 0 to 3; releases follow.
Trace small_trace() {
  trace::TraceBuilder builder{ViewRule::Keep, "small"};
  const trace::Output out{.size = {1}};
  const TensorId x = builder.constant({1});
  const TensorId y = builder.op({.name = "f", .inputs = {&x, 1}, .outputs = {&out, 1}});
  const TensorId both[] = {x, y};
  const TensorId z = builder.op({.name = "g", .inputs = both, .outputs = {&out, 1}});
  builder.keep(z);
  builder.release(y);
  return std::move(builder).finish();
}

std::uint64_t next_use(TraceFuture& future, std::uint32_t storage, std::size_t now) {
  future.advance(now);
  return future.next_use(StorageId{storage});
}

TEST(TraceFuture, TellsTheNextReadOfAStorage) {
  const Trace trace = small_trace();
  TraceFuture future{trace};
  EXPECT_EQ(next_use(future, 0, 0), 1u);
  EXPECT_EQ(next_use(future, 0, 1), 2u);  // what happens now is past
  EXPECT_EQ(next_use(future, 1, 1), 2u);
  EXPECT_EQ(next_use(future, 0, 2), Predictor::kNever);
}

TEST(TraceFuture, CountsAKeptResultAsUsedWhereItIsKept) {
  const Trace trace = small_trace();
  TraceFuture future{trace};
  EXPECT_EQ(next_use(future, 2, 2), 3u);
  EXPECT_EQ(next_use(future, 2, 3), Predictor::kNever);
}

TEST(TraceFuture, SeesAStorageThroughItsViews) {
  trace::TraceBuilder builder{ViewRule::Keep, "views"};
  const trace::Output fresh{.size = {1}}, view{.view_of = 0};
  const TensorId a = builder.op({.name = "make", .outputs = {&fresh, 1}});
  const TensorId b = builder.op({.name = "view", .inputs = {&a, 1}, .outputs = {&view, 1}});
  builder.op({.name = "read", .inputs = {&b, 1}, .outputs = {&fresh, 1}});
  const Trace trace = std::move(builder).finish();
  TraceFuture future{trace};
  EXPECT_EQ(next_use(future, 0, 1), 2u);
}

}  // namespace
}  // namespace weir::sim
