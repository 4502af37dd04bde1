#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "app/command.h"

namespace weir::app::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Two products and what is between them, with shapes.
std::string small_trace(const Folder& folder) {
  std::ofstream{folder / "small.trace"} << R"({"weir_trace":1,"views":"keep"}
{"constant":0,"storage":0,"bytes":262144,"dtype":"float32","shape":[64,1024]}
{"constant":1,"storage":1,"bytes":4194304,"dtype":"float32","shape":[1024,1024]}
{"op":"aten::mm","ns":1,"in":[0,1],"out":[{"tensor":2,"storage":2,"bytes":262144,"dtype":"float32","shape":[64,1024]}],"args":[{"in":0,"dtype":"float32","shape":[64,1024]},{"in":1,"dtype":"float32","shape":[1024,1024]}]}
{"op":"aten::relu_","ns":1,"in":[2],"mutates":[0],"out":[{"tensor":3,"view_of":0,"dtype":"float32","shape":[64,1024]}]}
{"op":"aten::mm","phase":"backward","ns":1,"in":[3,1],"out":[{"tensor":4,"storage":3,"bytes":262144,"dtype":"float32","shape":[64,1024]}]}
{"release":2}
{"release":3}
{"release":4}
{"step":1}
{"end":true,"events":9}
)";
  return folder / "small.trace";
}

TEST(ModelCommand, HasWhatProgramsAskForAtOneCapacity) {
  const Folder folder;
  const json got = json_from("model --json --cache 16MiB --no-tiles " + small_trace(folder));
  EXPECT_EQ(got["compulsory_bytes"], 262144 + 4194304);
  EXPECT_EQ(got["read_bytes"], 262144 + 4194304);
  EXPECT_EQ(got["write_bytes"], 0);
  EXPECT_TRUE(got["flops"].is_number());
  EXPECT_GT(got["time_ns"], 0);
  const json reuse = got["reuse"];
  EXPECT_EQ(reuse["adjacent"].get<std::int64_t>() + reuse["block"].get<std::int64_t>() +
                reuse["forward_backward"].get<std::int64_t>() +
                reuse["intra_op"].get<std::int64_t>(),
            got["no_reuse_bytes"].get<std::int64_t>() - 262144 - 4194304);
  EXPECT_GE(reuse["forward_backward"], 4194304);  // the weight
}

TEST(ModelCommand, TradesCapacityForBandwidth) {
  const json got = json_from(std::string("model --json --cache 64KiB:16MiB --optimum --time 1ms ") +
                             "--bandwidth 10GB/s,20GB/s " + kDemo);
  ASSERT_EQ(got["points"].size(), 18u);
  double before = 1e18;
  for (const json& point : got["points"]) {
    const double total = point["read_bytes"].get<double>() + point["write_bytes"].get<double>();
    EXPECT_LE(total, before);
    EXPECT_LE(point["optimum_bytes"], total + 1);
    EXPECT_GE(point["optimum_bytes"], got["compulsory_bytes"]);
    EXPECT_TRUE(point.contains("needed_bandwidth_bytes_per_s"));
    before = total;
  }
  EXPECT_TRUE(got["points"][0]["pareto"]);
}

TEST(ModelCommand, WritesCsvAndATable) {
  const Folder folder;
  const std::string model = std::string("model --cache 64KiB:1MiB ") + kDemo;
  const Outcome run = weir(model + " --csv " + (folder / "points.csv"));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("fwd-bwd"));
  const std::string csv = content_of(folder / "points.csv");
  EXPECT_EQ(std::ranges::count(csv, '\n'), 6);
  EXPECT_TRUE(csv.starts_with("cache_bytes,bandwidth_bytes_per_s,read_bytes,"));
  EXPECT_EQ(weir(model + " --csv -").out, csv);
}

TEST(ModelCommand, SaysWhatCannotBeModelledWithoutShapes) {
  const Outcome run = weir(std::string("model --cache 1MiB ") + kDemo);
  EXPECT_THAT(run.out, HasSubstr("the trace has no shapes: bytes are modelled, FLOPs are not"));
  const json got = json_from(std::string("model --json --cache 1MiB ") + kDemo);
  EXPECT_TRUE(got["flops"].is_null());
  EXPECT_EQ(got["reuse"].size(), 4u);
  EXPECT_THAT(got["note"].get<std::string>(), HasSubstr("no shapes"));
}

TEST(ModelCommand, KnowsTheMachineOfAFile) {
  const Folder folder;
  std::ofstream{folder / "machine.json"}
      << R"({"weir_machine":1,"name":"made up","bandwidth":"10GB/s","flops":"100G",
"caches":[{"capacity":"32KiB","bandwidth":"100GB/s"},{"capacity":"1MiB","bandwidth":"40GB/s"}],
"kernels":{"matmul":"80G"},"dtypes":{"float16":"200G"},"op_latency_ns":1000})";
  const std::string model = std::string("model --json ") + kDemo + " --machine ";
  const json got = json_from(model + (folder / "machine.json"));
  EXPECT_EQ(got["cache_bytes"], 1 << 20);
  EXPECT_EQ(got["bandwidth_bytes_per_s"], 10'000'000'000);
  EXPECT_GT(got["time_ns"], got["ops"].get<std::int64_t>() * 1000);
  const json faster = json_from(model + (folder / "machine.json") + " --bandwidth 100GB/s");
  EXPECT_LT(faster["time_ns"], got["time_ns"]);
}

TEST(ModelCommand, RunsOtherSchedules) {
  const Folder folder;
  const std::string model = "model --json --cache 300KiB --no-tiles " + small_trace(folder);
  const json plain = json_from(model), turned = json_from(model + " --alternate");
  EXPECT_LT(turned["read_bytes"], plain["read_bytes"]);
  const json parts = json_from(model + " --sub-batch 16");
  EXPECT_EQ(parts["sub_batch"], 16);
  EXPECT_GT(parts["ops"], plain["ops"]);
  EXPECT_TRUE(json_from(model + " --sub-batch best")["sub_batch"].is_number());
}

TEST(ModelCommand, ShowsEveryOpAndWhatBoundsIt) {
  const Folder folder;
  const std::string model = "model --cache 1MiB --no-tiles --flops 1T " + small_trace(folder);
  const json got = json_from(model + " --json --per-op --bandwidth 100GB/s");
  const json rows = got["per_op"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["name"], "aten::mm");
  EXPECT_EQ(rows[0]["kernel"], "matmul");
  EXPECT_EQ(rows[0]["flops"], 2 * 64 * 1024 * 1024);
  EXPECT_EQ(rows[0]["read_bytes"], 262144 + 4194304);
  EXPECT_EQ(rows[0]["bound"], "compute");  // 134 us against 44 us
  EXPECT_EQ(rows[2]["phase"], "backward");
  double time = 0, read = 0, write = 0, stall = 0;
  for (const json& row : rows) {
    time += row["time_ns"].get<double>();
    stall += row["stall_ns"].get<double>();
    read += row["read_bytes"].get<double>();
    write += row["write_bytes"].get<double>();
  }
  EXPECT_NEAR(time, got["time_ns"], 1);
  EXPECT_NEAR(stall, got["stall_ns"], 1);
  EXPECT_NEAR(read, got["read_bytes"], 3);
  EXPECT_NEAR(write, got["write_bytes"], 3);
  const json slow = json_from(model + " --json --per-op --bandwidth 1GB/s")["per_op"];
  EXPECT_EQ(slow[0]["bound"], "memory");
  EXPECT_NEAR(slow[0]["time_ns"], 262144 + 4194304 + 213000, 213000);  // what it makes is written
  const Outcome table = weir(model + " --per-op");
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("stall"));
  EXPECT_THAT(table.out, HasSubstr("aten::relu_"));
  EXPECT_FALSE(json_from(model + " --json").contains("per_op"));
}

// Skips where the Python tools are not there: then the command says how to get them.
TEST(ModelCommand, DrawsTrafficByCapacity) {
  const Outcome run = weir(std::string("model --cache 64KiB:4MiB --optimum --plot ") + kDemo);
  ASSERT_EQ(run.code, 0) << run.err;
  if (run.err.find("scripts/setup.sh") != std::string::npos) GTEST_SKIP() << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, HasSubstr("traffic of a step; the line is compulsory"));
  EXPECT_THAT(run.out, HasSubstr("cache, log2 of MiB"));
  for (const char* curve : {"lines, LRU", "whole tensors, LRU", "best by software"})
    EXPECT_THAT(run.out, HasSubstr(curve));
  EXPECT_LT(run.out.find("fwd-bwd"), run.out.find("the line is compulsory"));
  EXPECT_EQ(run.out.find('\033'), std::string::npos);  // no colours where nobody looks
}

void expect_refused(const std::string& arguments, const std::string& why) {
  const Outcome run = weir(std::string("model ") + kDemo + " " + arguments);
  EXPECT_EQ(run.code, 2) << arguments;
  EXPECT_EQ(run.out, "") << arguments;
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << arguments << '\n' << run.err;
  EXPECT_THAT(run.err, HasSubstr(why)) << arguments;
}

TEST(ModelCommand, RefusesWhatMakesNoSense) {
  expect_refused("--cache 0", "no room at all");
  expect_refused("--cache ''", "''");
  expect_refused("--cache 5GX", "unit");
  expect_refused("--cache -1MiB", "--cache");
  expect_refused("--cache 99999999TiB", "1024 TiB");
  expect_refused("--cache 4MiB:1MiB", "ends before it begins");
  expect_refused("--bandwidth 900GB", "900GB/s");
  expect_refused("--bandwidth 0GB/s", "no room");
  expect_refused("--flops 19X", "19T");
  expect_refused("--flops 0", "19T");
  expect_refused("--flops nan", "19T");
  expect_refused("--time 10", "10ms");
  expect_refused("--step 2", "no step 2");
  expect_refused("--sub-batch 2", "no shapes");
  expect_refused("--machine /nonexistent", "/nonexistent: cannot be read");
  expect_refused("--machine README.md", "README.md: is no JSON");
  expect_refused("--json --csv -", "both want standard output");
  expect_refused("--json --plot", "--plot");
  expect_refused("--cpu-kernels --no-tiles", "--cpu-kernels");
  expect_refused("--cpu-kernels --sub-batch 2", "--cpu-kernels");
  expect_refused("--per-op", "one cache and one bandwidth");
  expect_refused("--per-op --cache 1MiB --bandwidth 1GB/s,2GB/s", "one cache and one bandwidth");
}

TEST(ModelCommand, RefusesBadMachines) {
  const Folder folder;
  const auto refuse = [&](const std::string& text, const std::string& why) {
    std::ofstream{folder / "m.json"} << text;
    expect_refused("--machine " + (folder / "m.json"), why);
  };
  const std::string good = R"({"weir_machine":1,"bandwidth":"1GB/s","flops":"1T")";
  refuse("[]", "is no object");
  refuse("{}", "\"weir_machine\" must be 1");
  refuse(R"({"weir_machine":1,"flops":"1T"})", "lacks \"bandwidth\"");
  refuse(good + R"(,"speed":1})", "'speed', which nothing reads");
  refuse(good + R"(,"caches":[{"capacity":"2MiB"},{"capacity":"1MiB"}]})", "do not grow");
  refuse(good + R"(,"caches":[{"capacity":"0"}]})", "no room");
  refuse(good + R"(,"kernels":{"magic":"1T"}})", "'magic', which no op is");
  refuse(good + R"(,"op_latency_ns":-1})", "op_latency_ns");
  refuse(good + R"(,"phase_latency_ns":{"later":1}})", "'later', which nothing reads");
  refuse(good + R"(,"phase_latency_ns":{"forward":0.5}})", "\"forward\" is no whole number");
  refuse(good + R"(,"fresh_bandwidth":"3GB"})", "900GB/s");
  refuse(good + R"(,"ops":{"aten::relu":"3T"}})", "900GB/s");
  refuse(good + R"(,"ops":[]})", "\"ops\" is no object");
  refuse(good + R"(,"memory_ops":{"aten::relu":"3T"}})", "900GB/s");
  refuse(good + R"(,"products":{}})", "\"products\" is no list");
  refuse(good + R"(,"products":[{"op":"aten::mm","m":0,"flops":"1T"}]})", "product 1: \"m\"");
  refuse(good + R"(,"products":[{"op":"aten::mm","window":0,"flops":"1T"}]})", "\"window\"");
  refuse(good + R"(,"products":[{"op":"aten::mm"}]})", "product 1 lacks \"flops\"");
}

}  // namespace
}  // namespace weir::app::test
