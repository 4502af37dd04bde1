#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "app/command.h"

namespace weir::app::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;

// A chain of 8 layers, 16 ops of 1 byte and 1 ns each.
class PlanCommand : public testing::Test {
 protected:
  PlanCommand() { EXPECT_EQ(weir("trace generate chain --length 8 -o " + chain_).code, 0); }

  void change(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = content_of(file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    text.replace(at, from.size(), to);
    std::ofstream{file} << text;
  }

  Folder folder_;
  const std::string chain_ = folder_ / "chain.trace", plan_ = folder_ / "plan.json";
};

TEST_F(PlanCommand, ProvesTheBest) {
  const json got = json_from("plan " + chain_ + " --budget 4 --json");
  EXPECT_EQ(got["status"], "optimal");
  EXPECT_EQ(got["method"], "milp");
  EXPECT_EQ(got["base_ns"], 16);
  EXPECT_EQ(got["cost_ns"], got["bound_ns"]);
  EXPECT_EQ(got["gap"], 0.0);
  EXPECT_EQ(got["peak_bytes"], 4);
  EXPECT_EQ(got["recomputes"], got["cost_ns"].get<int>() - 16);
  EXPECT_GT(got["slowdown"].get<double>(), 1.0);
}

TEST_F(PlanCommand, CostsNothingMoreWhenAllFits) {
  const json got = json_from("plan " + chain_ + " --budget 1x --json");
  EXPECT_EQ(got["status"], "optimal");
  EXPECT_EQ(got["slowdown"], 1.0);
}

TEST_F(PlanCommand, HasOtherMethods) {
  const json best = json_from("plan " + chain_ + " --budget 5 --json");
  const json chen = json_from("plan " + chain_ + " --budget 5 --method griewank --json");
  EXPECT_EQ(chen["status"], "feasible");
  EXPECT_GE(chen["cost_ns"], best["cost_ns"]);
  const Outcome none = weir("plan " + chain_ + " --budget 3 --method keep_all");
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.out, HasSubstr("found no schedule that fits"));
}

TEST_F(PlanCommand, LimitsHowOftenOpsRun) {
  const std::string plan = "plan " + chain_ + " --method intervals --budget ";
  const json best = json_from("plan " + chain_ + " --budget 4 --json");
  const json enough = json_from(plan + "4 --intervals 8 --json -o " + plan_);
  EXPECT_EQ(enough["status"], "optimal");
  EXPECT_EQ(enough["intervals"], 8);
  EXPECT_EQ(enough["cost_ns"], best["cost_ns"]);
  EXPECT_EQ(enough["bound_ns"], best["cost_ns"]);
  EXPECT_EQ(weir("plan " + chain_ + " --check " + plan_).code, 0);
  EXPECT_FALSE(best.contains("intervals"));
  const Outcome two = weir(plan + "5");
  EXPECT_EQ(two.code, 0);
  EXPECT_THAT(two.out, HasSubstr("and none with 2 runs of an op at most is better"));
}

TEST_F(PlanCommand, SaysWhetherALimitOrTheBudgetIsTooSmall) {
  const std::string plan = "plan " + chain_ + " --method intervals --budget ";
  const Outcome few = weir(plan + "3");
  EXPECT_EQ(few.code, 1);
  EXPECT_THAT(few.out, HasSubstr("infeasible with 2 runs of an op at most; allow more"));
  const json got = json_from(plan + "3 --json");
  EXPECT_EQ(got["status"], "infeasible");
  EXPECT_FALSE(got.contains("smallest_bytes"));
  EXPECT_EQ(json_from(plan + "1 --json")["smallest_bytes"], 3);
}

TEST_F(PlanCommand, SaysTheSmallestBudgetAndWhatSetsIt) {
  const Outcome run = weir("plan " + chain_ + " --budget 1");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, HasSubstr("infeasible: the smallest budget is 3 B (3 B, "));
  EXPECT_THAT(run.out, HasSubstr("set by op "));
  const json got = json_from("plan " + chain_ + " --budget 1 --json");
  EXPECT_EQ(got["status"], "infeasible");
  EXPECT_EQ(got["smallest_bytes"], 3);
  EXPECT_TRUE(got["slowdown"].is_null());
  EXPECT_EQ(json_from("plan " + chain_ + " --budget 3 --json")["status"], "optimal");
}

TEST_F(PlanCommand, WritesAScheduleThatCanBeChecked) {
  ASSERT_EQ(weir("plan " + chain_ + " --budget 4 -o " + plan_).code, 0);
  const Outcome right = weir("plan " + chain_ + " --check " + plan_);
  EXPECT_EQ(right.code, 0);
  EXPECT_THAT(right.out, HasSubstr("right: "));
  const json made = json_from("plan " + chain_ + " --budget 4 --json");
  const json checked = json_from("plan " + chain_ + " --check " + plan_ + " --json");
  EXPECT_EQ(checked["valid"], true);
  EXPECT_EQ(checked["cost_ns"], made["cost_ns"]);
  EXPECT_EQ(checked["peak_bytes"], made["peak_bytes"]);
  EXPECT_EQ(checked["slowdown"], made["slowdown"]);
}

TEST_F(PlanCommand, NamesTheFirstMoveThatIsWrong) {
  ASSERT_EQ(weir("plan " + chain_ + " --budget 4 -o " + plan_).code, 0);
  const Outcome tight = weir("plan " + chain_ + " --budget 3 --check " + plan_);
  EXPECT_EQ(tight.code, 1);
  EXPECT_THAT(tight.out, HasSubstr("1 B more than the budget"));
  change(plan_, "[\"compute\",0],", "");
  const Outcome run = weir("plan " + chain_ + " --check " + plan_);
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out,
              MatchesRegex("wrong at move 0: op 1 .layer. runs before op 0 .layer. has\n"));
  EXPECT_EQ(json_from("plan " + chain_ + " --json --check " + plan_)["valid"], false);
}

TEST_F(PlanCommand, RefusesAScheduleOfAnotherTrace) {
  const std::string longer = folder_ / "longer.trace";
  ASSERT_EQ(weir("trace generate chain --length 9 -o " + longer).code, 0);
  ASSERT_EQ(weir("plan " + chain_ + " --budget 4 -o " + plan_).code, 0);
  const Outcome run = weir("plan " + longer + " --check " + plan_);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("is for another trace: op 8 is layer in the trace and "
                                 "layer_backward in the schedule"));
}

TEST_F(PlanCommand, RefusesWhatIsNoSchedule) {
  for (const char* text : {"", "{", "[]", "{\"weir_schedule\":2}", "{\"weir_schedule\":1}"}) {
    std::ofstream{plan_} << text;
    const Outcome run = weir("plan " + chain_ + " --check " + plan_);
    EXPECT_EQ(run.code, 2) << text;
    EXPECT_THAT(run.err, HasSubstr("plan.json: no schedule (")) << text;
  }
  ASSERT_EQ(weir("plan " + chain_ + " --budget 4 -o " + plan_).code, 0);
  change(plan_, "compute", "compare");
  EXPECT_THAT(weir("plan " + chain_ + " --check " + plan_).err, HasSubstr("no move 'compare'"));
  EXPECT_EQ(weir("plan " + chain_ + " --check " + (folder_ / "nothing")).code, 2);
}

TEST_F(PlanCommand, FastCopiesBesideOps) {
  const std::string fast = "plan " + chain_ + " --budget 4 --method fast --json";
  const json without = json_from(fast);
  EXPECT_FALSE(without.contains("offloads"));
  const std::string tier = " --tier 8,write=100GB/s,read=100GB/s";
  const json with = json_from(fast + tier + " -o " + plan_);
  EXPECT_LT(with["cost_ns"], without["cost_ns"]);
  EXPECT_GT(with["offloads"], 0);
  EXPECT_GT(with["fetches"], 0);
  EXPECT_EQ(json_from("plan " + chain_ + " --json --check " + plan_ + tier)["cost_ns"],
            with["cost_ns"]);
  EXPECT_LE(json_from(fast + tier + " --repeats")["cost_ns"], without["cost_ns"]);
  EXPECT_NE(weir(fast + " --repeats").code, 0);
}

TEST_F(PlanCommand, CopiesToATier) {
  const std::string poet = "plan " + chain_ + " --budget 4 --method poet --json --tier ";
  const json none = json_from(poet + "0,write=1GB/s,read=1GB/s");
  EXPECT_EQ(none["cost_ns"], json_from("plan " + chain_ + " --budget 4 --json")["cost_ns"]);
  EXPECT_EQ(none["fetches"], 0);
  const json fast = json_from(poet + "8,write=100GB/s,read=100GB/s -o " + plan_);
  EXPECT_EQ(fast["status"], "optimal");
  EXPECT_EQ(fast["cost_ns"], 16);
  EXPECT_GT(fast["fetches"], 0);
  EXPECT_LE(fast["tier_peak_bytes"], 8);
  const std::string check = "plan " + chain_ + " --check " + plan_ + " --json";
  EXPECT_EQ(json_from(check + " --tier 8,write=100GB/s,read=100GB/s")["cost_ns"], 16);
  EXPECT_EQ(json_from(check)["violation"], "something is offloaded and there is no tier");
  EXPECT_EQ(
      weir("plan " + chain_ + " --budget 1 --method poet --tier 8,write=1GB/s,read=1GB/s").code, 1);
}

TEST_F(PlanCommand, RefusesWrongTiers) {
  const auto refused = [&](const std::string& arguments) {
    const Outcome run = weir("plan " + chain_ + " --budget 4 " + arguments);
    EXPECT_EQ(run.code, 2) << arguments;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    return run.err;
  };
  EXPECT_THAT(refused("--method poet"), HasSubstr("needs a tier"));
  EXPECT_THAT(refused("--tier 2,write=1GB/s,read=1GB/s"), HasSubstr("use --method poet"));
  for (const char* tier : {"", "x", "2", "2,write=1GB/s", "2,write=0/s,read=1/s", "2,read=1/s,",
                           "2,write=1GB,read=1GB/s", "2,write=1/s,write=1/s", "2,speed=1/s"})
    EXPECT_THAT(refused("--method poet --tier '" + std::string{tier} + "'"), HasSubstr("tier"));
}

TEST_F(PlanCommand, RefusesWrongOptions) {
  const auto refused = [&](const std::string& arguments) {
    const Outcome run = weir("plan " + chain_ + " " + arguments);
    EXPECT_EQ(run.code, 2) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    return run.err;
  };
  EXPECT_THAT(refused(""), HasSubstr("--budget is required"));
  EXPECT_THAT(refused("--budget 4 --method best"),
              HasSubstr("no method 'best'; choose one of milp"));
  EXPECT_THAT(refused("--budget 4 --time-limit 0"), HasSubstr("--time-limit"));
  EXPECT_THAT(refused("--budget 4 --time-limit nan"), HasSubstr("--time-limit"));
  EXPECT_THAT(refused("--budget 4 --rounds 0"), HasSubstr("--rounds"));
  EXPECT_THAT(refused("--budget 4 --intervals 0"), HasSubstr("--intervals"));
  EXPECT_THAT(refused("--budget 4 --threads -1"), HasSubstr("--threads"));
  EXPECT_THAT(refused("--budget 4 -o /nowhere/plan.json"), HasSubstr("/nowhere/plan.json"));
}

TEST_F(PlanCommand, ExplainsItself) {
  const Outcome run = weir("plan --help");
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.out, HasSubstr("chen_greedy_ap"));
  EXPECT_THAT(run.out, HasSubstr("Example: weir plan"));
}

}  // namespace
}  // namespace weir::app::test
