#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "app/command.h"

namespace weir::app::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A chain of 3 layers, 6 ops of 1 byte and 1 ns each.
class DevicePlan : public testing::Test {
 protected:
  DevicePlan() { EXPECT_EQ(weir("trace generate chain --length 3 -o " + chain_).code, 0); }

  void describe(const std::string& text) const { std::ofstream{devices_} << text; }
  void describe_two(const std::string& near, const std::string& far) const {
    describe(R"({"devices": [{"name": "near", "budget": ")" + near +
             R"("}, {"name": "far", "budget": ")" + far +
             R"(", "time": 8, "time_of": {"layer": 4}}],
       "links": [{"from": "near", "to": "far", "speed": "1GB/s"},
                 {"from": "far", "to": "near", "speed": "0.5GB/s", "latency_ns": 1}]})");
  }

  [[nodiscard]] Outcome run(const std::string& more = "") const {
    return weir("plan " + chain_ + " --method xengine --devices " + devices_ + " " + more);
  }
  [[nodiscard]] json result() const {
    return json_from("plan " + chain_ + " --method xengine --json --devices " + devices_);
  }

  Folder folder_;
  const std::string chain_ = folder_ / "chain.trace", plan_ = folder_ / "plan.json",
                    devices_ = folder_ / "devices.json";
};

TEST_F(DevicePlan, CopiesRatherThanRunsAgainIfThatIsFaster) {
  describe_two("1x", "1x");
  const json roomy = result();
  EXPECT_EQ(roomy["status"], "optimal");
  EXPECT_EQ(roomy["slowdown"], 1.0);
  EXPECT_EQ(roomy["fastest_ns"], 6);
  EXPECT_EQ(roomy["copies"], 0);
  EXPECT_EQ(roomy["devices"][1]["runs"], 0);
  describe_two("3", "4");
  const json tight = result();
  EXPECT_EQ(tight["status"], "optimal");
  EXPECT_EQ(tight["cost_ns"], tight["bound_ns"]);
  EXPECT_LE(tight["devices"][0]["peak_bytes"], 3);
  EXPECT_LE(tight["cost_ns"], json_from("plan " + chain_ + " --budget 3 --json")["cost_ns"]);
}

TEST_F(DevicePlan, IsCheckmatesOnOneDevice) {
  describe(R"({"devices": [{"name": "only", "budget": "3"}], "links": []})");
  const json milp = json_from("plan " + chain_ + " --budget 3 --json");
  EXPECT_EQ(result()["cost_ns"], milp["cost_ns"]);
  EXPECT_EQ(result()["recomputes"], milp["recomputes"]);
}

TEST_F(DevicePlan, WritesAScheduleThatCanBeChecked) {
  describe_two("3", "4");
  ASSERT_EQ(run("-o " + plan_).code, 0);
  const std::string check = "plan " + chain_ + " --devices " + devices_ + " --check " + plan_;
  const Outcome right = weir(check);
  EXPECT_EQ(right.code, 0);
  EXPECT_THAT(right.out, HasSubstr("right: "));
  EXPECT_EQ(json_from(check + " --json")["cost_ns"], result()["cost_ns"]);
  describe_two("2", "4");
  const Outcome wrong = weir(check);
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.out, HasSubstr("1 B more than its budget"));
  describe(R"({"devices": [{"name": "other", "budget": "3"}], "links": []})");
  EXPECT_EQ(weir(check).code, 2);
  EXPECT_THAT(weir(check).err, HasSubstr("there is no device 'near'"));
  EXPECT_EQ(weir("plan " + chain_ + " --check " + plan_).code, 2);
}

TEST_F(DevicePlan, SaysWhichBudgetsWouldDo) {
  describe_two("1", "1");
  const Outcome none = run();
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.out,
              HasSubstr("infeasible: all budgets would have to be 3.0000 times as large"));
  const json got = result();
  EXPECT_EQ(got["status"], "infeasible");
  EXPECT_EQ(got["smallest_share"], 3.0);
  const auto bytes = [&](std::size_t device) {
    return std::to_string(got["devices"][device]["smallest_bytes"].get<int>());
  };
  describe_two(bytes(0), bytes(1) == "0" ? "1" : bytes(1));
  EXPECT_EQ(result()["status"], "optimal");
}

TEST_F(DevicePlan, RefusesWhatIsNoDevices) {
  const auto refused = [&](const std::string& text) {
    describe(text);
    const Outcome outcome = run();
    EXPECT_EQ(outcome.code, 2) << text;
    EXPECT_EQ(outcome.out, "") << text;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("devices.json: ")) << text;
    return outcome.err;
  };
  EXPECT_THAT(refused(""), HasSubstr("no devices ("));
  EXPECT_THAT(refused("[]"), HasSubstr("no object"));
  EXPECT_THAT(refused("{}"), HasSubstr("no list \"devices\""));
  EXPECT_THAT(refused(R"({"devices": [], "links": []})"), HasSubstr("from 1 to 8 devices"));
  EXPECT_THAT(refused(R"({"devices": [], "lanes": []})"),
              HasSubstr("'lanes', which nothing reads"));
  const auto device = [&](const std::string& fields) {
    return refused(R"({"devices": [{"name": "a", )" + fields + R"(}], "links": []})");
  };
  EXPECT_THAT(device(R"("time": 1)"), HasSubstr("device 1 lacks \"budget\""));
  EXPECT_THAT(device(R"("budget": "0")"), HasSubstr("no memory at all"));
  EXPECT_THAT(device(R"("budget": "1", "time": 0)"), HasSubstr("no factor above 0"));
  EXPECT_THAT(device(R"("budget": "1", "time_of": {"conv": 2})"), HasSubstr("no op 'conv'"));
  EXPECT_THAT(device(R"("budget": "1", "speed": 2)"), HasSubstr("'speed', which nothing reads"));
  const auto link = [&](const std::string& fields) {
    return refused(R"({"devices": [{"name": "a", "budget": "9"}, {"name": "b", "budget": "9"}],
                       "links": [{"from": "a", )" +
                   fields + "}]}");
  };
  EXPECT_THAT(link(R"("to": "c", "speed": "1/s")"), HasSubstr("link 1 names 'c'"));
  EXPECT_THAT(link(R"("to": "a", "speed": "1/s")"), HasSubstr("leads back"));
  EXPECT_THAT(link(R"("to": "b", "speed": "1GB")"), HasSubstr("no speed"));
  EXPECT_THAT(link(R"("to": "b", "speed": "0/s")"), HasSubstr("no speed"));
  EXPECT_THAT(link(R"("to": "b", "speed": "1/s", "latency_ns": -1)"), HasSubstr("latency_ns"));
}

TEST_F(DevicePlan, RefusesWrongOptions) {
  describe_two("3", "4");
  const auto refused = [&](const std::string& arguments) {
    const Outcome outcome = weir("plan " + chain_ + " " + arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(refused("--method xengine --budget 3"), HasSubstr("needs devices; add --devices"));
  EXPECT_THAT(refused("--devices " + devices_), HasSubstr("use --method xengine"));
  EXPECT_THAT(refused("--method xengine --budget 3 --devices " + devices_),
              HasSubstr("drop --budget"));
  EXPECT_THAT(refused("--method xengine --tier 2,write=1/s,read=1/s --devices " + devices_),
              HasSubstr("--tier"));
  EXPECT_THAT(refused("--method xengine --devices " + (folder_ / "nothing")),
              HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace weir::app::test
