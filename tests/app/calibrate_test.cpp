// What `weir calibrate` writes, and how it fails. A shell script stands in for Python: it writes
// times that are known, so what is made of them is too. Nothing here depends on real times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "app/command.h"

namespace weir::app::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kTimed = R"({"weir_trace":1,"views":"keep"}
{"constant":0,"storage":0,"bytes":4096,"dtype":"float32","shape":[1024]}
{"op":"aten::relu","ns":1000,"in":[0],"args":[{"in":0,"dtype":"float32","shape":[1024]}],"out":[{"tensor":1,"storage":1,"bytes":4096,"dtype":"float32","shape":[1024]}]}
{"constant":2,"storage":2,"bytes":40960,"dtype":"float32","shape":[10240]}
{"op":"aten::relu","ns":1900,"in":[2],"args":[{"in":0,"dtype":"float32","shape":[10240]}],"out":[{"tensor":3,"storage":3,"bytes":40960,"dtype":"float32","shape":[10240]}]}
{"constant":4,"storage":4,"bytes":400,"dtype":"float32","shape":[10,10]}
{"op":"aten::mm","ns":100,"in":[4,4],"args":[{"in":0,"dtype":"float32","shape":[10,10]},{"in":1,"dtype":"float32","shape":[10,10]}],"out":[{"tensor":5,"storage":5,"bytes":400,"dtype":"float32","shape":[10,10]}]}
{"step":1}
{"constant":6,"storage":6,"bytes":4096000,"dtype":"float32","shape":[1024000]}
{"op":"aten::relu","ns":8192000,"in":[6],"args":[{"in":0,"dtype":"float32","shape":[1024000]}],"out":[{"tensor":7,"storage":7,"bytes":4096000,"dtype":"float32","shape":[1024000]}]}
{"end":true,"events":9}
)";
constexpr const char* kFigures =
    R"({"torch":"2.0","latency_ns":{"forward":5000,"backward":3000,"optimizer":1000},"fresh_ns_per_mib":1048576})";

class CalibrateCommand : public testing::Test {
 protected:
  // Ends with `code` after it has written both files.
  std::string python(int code = 0, const std::string& figures = kFigures) {
    std::ofstream{folder_ / "timed"} << kTimed;
    std::ofstream{folder_ / "figures"} << figures;
    const std::string path = folder_ / "python3";
    std::ofstream{path} << "#!/bin/sh\ncp '" << (folder_ / "timed") << "' \"$2\"; cp '"
                        << (folder_ / "figures") << "' \"$3\"\necho \"$4 $5\" > '"
                        << (folder_ / "given") << "'\nexit " << code << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  void expect_failed(const std::string& arguments, int code, const std::string& why) {
    const Outcome run = weir("calibrate " + arguments);
    EXPECT_EQ(run.code, code) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << arguments << '\n' << run.err;
    EXPECT_THAT(run.err, HasSubstr(why)) << arguments;
    EXPECT_FALSE(std::filesystem::exists(file_)) << arguments;
  }

  Folder folder_;
  const std::string file_ = folder_ / "machine.json";
};

double number_in(const json& text) { return std::stod(text.get<std::string>()); }

TEST_F(CalibrateCommand, WithoutTorchMeasuresMemoryAndSaysWhatLacks) {
  const json told = json_from("calibrate --no-torch --json --threads 1 -o " + file_);
  EXPECT_EQ(told, json::parse(content_of(file_)));
  EXPECT_EQ(told["weir_machine"], 1);
  EXPECT_GT(number_in(told["bandwidth"]), 1e6);  // bytes a second
  double capacity = 0, before = 1e300;
  for (const json& cache : told["caches"]) {
    EXPECT_GT(number_in(cache["capacity"]), capacity);
    EXPECT_LE(number_in(cache["bandwidth"]), before);
    capacity = number_in(cache["capacity"]);
    before = number_in(cache["bandwidth"]);
  }
  EXPECT_LE(number_in(told["bandwidth"]), before);
  EXPECT_EQ(told["about"]["not_measured"].size(), 13u);
  EXPECT_TRUE(told["kernels"].empty());
}

TEST_F(CalibrateCommand, MakesRatesOfTimes) {
  const json told = json_from("calibrate --json --threads 1 -o " + file_ + " --python " + python());
  EXPECT_EQ(told["ops"]["aten::relu"], "81920000000B/s");        // 73728 bytes more in 900 ns
  EXPECT_EQ(told["memory_ops"]["aten::relu"], "1000000000B/s");  // what comes after the mark
  ASSERT_EQ(told["products"].size(), 1u);
  EXPECT_EQ(told["products"][0]["m"], 10);
  EXPECT_EQ(told["products"][0]["flops"], "20.0000G");  // 2000 in 100 ns
  EXPECT_EQ(told["kernels"]["matmul"], "20.0000G");
  EXPECT_EQ(told["kernels"]["elementwise"], "3.8841G");  // 11264 in 2900 ns
  EXPECT_EQ(told["phase_latency_ns"]["backward"], 3000);
  EXPECT_EQ(told["fresh_bandwidth"], "1000000000B/s");
  EXPECT_EQ(told["about"]["torch"], "2.0");
  EXPECT_EQ(content_of(folder_ / "given"), "--threads 1\n");  // and the largest cache
}

TEST_F(CalibrateCommand, WritesWhatTheModelReads) {
  const Outcome run = weir("calibrate --threads 1 -o " + file_ + " --python " + python());
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("GFLOP/s"));
  EXPECT_THAT(run.out, HasSubstr("not measured: convolution"));
  const json model = json_from(std::string("model --json ") + kDemo + " --machine " + file_);
  EXPECT_GT(model["time_ns"], model["ops"].get<std::int64_t>() * 1000);
  const Outcome quiet = weir("calibrate --quiet --threads 1 -o " + file_ + " --no-torch");
  EXPECT_EQ(quiet.out + quiet.err, "");
}

TEST_F(CalibrateCommand, RefusesWhatMakesNoSense) {
  const std::string to = "-o " + file_ + " ";
  expect_failed(to + "--no-torch --threads 0", 2, "--threads cannot be 0");
  expect_failed(to + "--no-torch --threads 99999", 2, "--threads cannot be 99999");
  expect_failed(to + "--no-torch --threads x", 2, "--threads");
  expect_failed(to + "--python no_such_python", 2, "'no_such_python' is not in PATH");
  expect_failed(to + "surplus", 2, "surplus");
  expect_failed("--no-torch -o /nonexistent/machine.json", 2, "/nonexistent/machine.json");
}

TEST_F(CalibrateCommand, WritesNothingIfTimingFails) {
  const std::string start = "-o " + file_ + " --threads 1 --python ";
  expect_failed(start + python(3), 2, "has no torch; give --python one that has, or --no-torch");
  expect_failed(start + python(7), 1, "ended with 7");
  expect_failed(start + python(0, "{}"), 1, "did not say what it found");
}

}  // namespace
}  // namespace weir::app::test
