#include "trace/info.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/builder.h"
#include "trace/reader.h"
#include "trace/testing.h"

namespace weir::trace {
namespace {

class InfoTest : public ::testing::Test {
 protected:
  TensorId run(std::vector<TensorId> inputs, std::vector<Output> outputs, Nanos cost = {1}) {
    return builder.op({.name = "f", .cost = cost, .inputs = inputs, .outputs = outputs});
  }
  Trace trace() { return std::move(builder).finish(); }

  TraceBuilder builder{ViewRule::Keep, "test"};
};

TEST_F(InfoTest, AStorageLivesUntilTheLastReferenceToAnyOfItsTensors) {
  TensorId x = run({}, {{.size = {10}}});
  TensorId view = run({x}, {{.view_of = 0}});
  builder.release(x);
  run({view}, {{.size = {5}}});  // 15: the view still holds the 10
  builder.release(view);
  run({}, {{.size = {9}}});  // 14
  EXPECT_EQ(liveness_peak(trace()), Bytes{15});
}

TEST_F(InfoTest, ConstantsAreFreedTooAndKeptStoragesAreNot) {
  TensorId c = builder.constant({100});
  builder.release(c);
  TensorId x = run({}, {{.size = {60}}});
  builder.keep(x);
  builder.release(x);
  run({}, {{.size = {50}}});
  EXPECT_EQ(liveness_peak(trace()), Bytes{110});
}

TEST_F(InfoTest, CountsOpsByWhatTheyNeed) {
  TensorId c = builder.constant({100});
  TensorId x = run({c}, {{.size = {10}}});
  TensorId view = run({x}, {{.view_of = 0}});
  run({x, view, x, c}, {{.size = {1}}}, {7});
  builder.step();
  Info info = info_of(trace());
  EXPECT_EQ(info.largest_op, Bytes{11});   // x once, not the constant, and the output
  EXPECT_EQ(info.bottleneck, Bytes{121});  // x twice, the constant, and the output
  EXPECT_EQ(info.base_cost, Nanos{9});
  EXPECT_EQ(info.constant_bytes, Bytes{100});
  EXPECT_EQ(info.views, 1u);
  EXPECT_EQ(info.steps, 1u);
}

TEST_F(InfoTest, CountsScratchWhileTheOpRuns) {
  TensorId x = run({}, {{.size = {10}}});
  const Output five{.size = {5}};
  builder.op({.name = "f", .inputs = {&x, 1}, .outputs = {&five, 1}, .scratch = {30}});
  run({}, {{.size = {20}}});
  Info info = info_of(trace());
  EXPECT_EQ(info.liveness_peak, Bytes{45});
  EXPECT_EQ(info.largest_op, Bytes{45});
}

TEST_F(InfoTest, ListsNamesByTime) {
  builder.op({.name = "cheap", .cost = {1}});
  builder.op({.name = "dear", .cost = {5}});
  builder.op({.name = "cheap", .cost = {1}});
  Info info = info_of(trace());
  ASSERT_EQ(info.by_time.size(), 2u);
  EXPECT_EQ(info.by_time[0].name, "dear");
  EXPECT_EQ(info.by_time[1].calls, 2u);
  EXPECT_EQ(info.by_time[1].cost, Nanos{2});
}

struct Published {
  const char* name;
  std::size_t lines, ops, constants, views, tensors;
  std::int64_t cost, peak, constant_bytes, bottleneck;
};

void PrintTo(const Published& log, std::ostream* out) { *out << log.name; }

class PublishedLogInfo : public ::testing::TestWithParam<Published> {};

TEST_P(PublishedLogInfo, IsThatOfSimrd) {
  const Published& known = GetParam();
  auto file = test::data_file(std::string("dtr-logs/") + known.name + ".log");
  if (!file) GTEST_SKIP() << "dtr-logs/" << known.name << ".log is not there; set WEIR_DATA";
  Trace trace = read_trace(*file);
  Info info = info_of(trace);
  EXPECT_EQ(trace.lines, known.lines);
  EXPECT_EQ(info.ops, known.ops);
  EXPECT_EQ(info.constants, known.constants);
  EXPECT_EQ(info.views, known.views);
  EXPECT_EQ(info.tensors, known.tensors);
  EXPECT_EQ((info.base_cost.n + 5000) / 10000, known.cost);  // known in 10 us
  EXPECT_EQ(info.liveness_peak.n, known.peak);
  EXPECT_EQ(info.constant_bytes.n, known.constant_bytes);
  EXPECT_EQ(info.bottleneck.n, known.bottleneck);
}

INSTANTIATE_TEST_SUITE_P(All, PublishedLogInfo,
                         ::testing::Values(Published{"tv_densenet121-84", 19134, 1951 + 121, 853,
                                                     611, 3652, 35530, 11020749360, 82830040,
                                                     809245696},
                                           Published{"resnet32-56", 3777, 286, 223, 16, 696, 29191,
                                                     10061179152, 35584920, 539510784},
                                           Published{"transformer-10", 18638, 2731 + 90, 333, 1553,
                                                     3457, 27626, 9864405000, 263197248, 671088640},
                                           Published{"unet-6", 2628, 210 + 37, 152, 46, 512, 43528,
                                                     8415764640, 93386276, 1943076864},
                                           Published{"treelstm-6", 42146, 6699 + 126, 134, 2341,
                                                     7213, 12049, 170173608, 2000800, 2160000}));

}  // namespace
}  // namespace weir::trace
