// libweir_preload.so, and the programs of the zoo inside a session: digests equal those of stock.
#include <gmock/gmock.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "shell/shell.h"

namespace weir::libtorch::test {

using weir::test::content_of;
using weir::test::Folder;
using weir::test::Outcome;
using weir::test::shell;
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kResnet = std::string{WEIR_PROGRAMS} + "/zoo_resnet50";
const std::string kHeldResnet = std::string{WEIR_OWN_PROGRAMS} + "/zoo_resnet50_held";
const std::string kResnetSizes =
    " --batch 4 --image 64 --width 16 --classes 10 --steps 3 --threads 2 --digest";
const std::string kTree = std::string{WEIR_PROGRAMS} +
                          "/zoo_tree_lstm --batch 16 --hidden 64 --depth 5 --steps 4 --threads 2"
                          " --digest";
const std::string kVictim = std::string{WEIR_OWN_PROGRAMS} + "/preload_victim ";

class Preload : public testing::Test {
 protected:
  Outcome under_weir(const std::string& program, json options,
                     const std::string& preload = WEIR_PRELOAD) {
    options["json"] = folder_ / "run.json";
    options["smallest"] = 1;
    return shell("LD_PRELOAD=" + preload + " WEIR_OPTIONS='" + options.dump() + "' " + program);
  }
  json figures() { return json::parse(content_of(folder_ / "run.json")); }

  void expect_same_digest(const std::string& program, std::uint64_t steps) {
    const std::string stock = digest_of(shell(program).out);
    ASSERT_NE(stock, "");
    ASSERT_EQ(digest_of(shell(program).out), stock) << "stock itself is not deterministic";
    under_weir(program, {{"budget", 1LL << 40}});
    const std::int64_t peak = figures()["logical_peak_bytes"];
    for (const double share : {0.8, 0.6}) {
      const auto budget = static_cast<std::int64_t>(share * static_cast<double>(peak));
      const Outcome run = under_weir(program, {{"budget", budget}});
      EXPECT_EQ(run.code, 0) << run.err;
      EXPECT_EQ(digest_of(run.out), stock) << share;
      EXPECT_LE(figures()["peak_bytes"], budget);
      EXPECT_GT(figures()["evictions"].get<int>() + figures()["offloads"].get<int>(), 0);
      EXPECT_EQ(figures()["steps"], steps);
      EXPECT_THAT(run.err, HasSubstr("logical peak"));
    }
  }

  static std::string digest_of(const std::string& out) {
    const std::size_t at = out.find("digest ");
    return at == std::string::npos ? "" : out.substr(at);
  }

  Folder folder_;
};

TEST_F(Preload, ResnetTrainsToTheSameBits) { expect_same_digest(kResnet + kResnetSizes, 3); }

TEST_F(Preload, ATreeLstmTrainsToTheSameBits) { expect_same_digest(kTree, 4); }

TEST_F(Preload, AShareOfThePeakIsLearnedInTheFirstStep) {
  const std::string stock = digest_of(shell(kResnet + kResnetSizes).out);
  const Outcome run = under_weir(kResnet + kResnetSizes, {{"fraction", 0.7}});
  EXPECT_EQ(digest_of(run.out), stock) << run.err;
  EXPECT_LT(figures()["budget_bytes"], figures()["logical_peak_bytes"]);
}

TEST_F(Preload, ASessionAroundAProgramGivesTheSameBits) {
  const std::string stock = digest_of(shell(kResnet + kResnetSizes).out);
  under_weir(kResnet + kResnetSizes, {{"budget", 1LL << 40}});
  const std::int64_t peak = figures()["logical_peak_bytes"];
  for (const std::int64_t budget : {peak * 8 / 10, peak * 6 / 10}) {
    const Outcome run =
        shell("BUDGET=" + std::to_string(budget) + " " + kHeldResnet + kResnetSizes);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(digest_of(run.out), HasSubstr(stock));
  }
}

TEST_F(Preload, TheProgramsThreadsAreFollowed) {
  const std::string stock = shell(kVictim + "threads").out;
  const Outcome run = under_weir(kVictim + "threads", {{"budget", 12 << 20}});
  EXPECT_EQ(run.out, stock) << run.err;
  EXPECT_GT(figures()["recomputes"].get<int>() + figures()["fetches"].get<int>(), 0);
  EXPECT_LE(figures()["peak_bytes"], 12 << 20);
}

TEST_F(Preload, HandlersOfTheProgramComeAfterOurs) {
  for (const char* way : {"sigaction", "signal"}) {
    const Outcome run = under_weir(kVictim + way, {{"budget", 8 << 20}, {"tier", "none"}});
    EXPECT_EQ(run.code, 7) << run.err;
    EXPECT_EQ(run.out, "installed 1\nread 2000\nown handler\n") << way;
  }
}

TEST_F(Preload, WhatTheProgramStartsRunsWithoutUs) {
  const Outcome run = under_weir(kVictim + "children", {{"budget", 8 << 20}});
  EXPECT_EQ(run.out, "clean\n") << run.err;
}

TEST_F(Preload, AForkedChildLeavesTheReportToItsParent) {
  const std::string stock = shell(kVictim + "fork").out;
  const Outcome run = under_weir(kVictim + "fork", {{"budget", 12 << 20}});
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, stock) << run.err;
  EXPECT_EQ(run.err.find("logical peak"), run.err.rfind("logical peak"));
}

TEST_F(Preload, EndsAsTheProgramEnds) {
  EXPECT_EQ(under_weir(kVictim + "walk", {{"budget", 12 << 20}}).code, 5);
}

TEST_F(Preload, SaysNothingIfItIsToBeQuiet) {
  const Outcome run = under_weir(kVictim + "walk", {{"budget", 12 << 20}, {"quiet", true}});
  EXPECT_EQ(run.err, "");
  EXPECT_GT(figures()["ops"], 0);
}

TEST_F(Preload, TellsAlsoOfAProgramThatRanOutOfTheBudget) {
  const Outcome run = under_weir(kVictim + "too_much", {{"budget", 12 << 20}});
  EXPECT_NE(run.code, 0);
  EXPECT_THAT(run.err, HasSubstr("weir::OutOfBudget: "));
  EXPECT_EQ(figures()["budget_bytes"], 12 << 20);
}

TEST_F(Preload, RecordsWithoutABudget) {
  const std::string stock = shell(kVictim + "walk").out;
  const Outcome run = under_weir(kVictim + "walk", {{"record", folder_ / "t.jsonl.zst"}});
  EXPECT_EQ(run.out, stock);
  EXPECT_GT(content_of(folder_ / "t.jsonl.zst").size(), 100U);
  EXPECT_EQ(figures()["budget_bytes"], 0);
  EXPECT_EQ(figures()["evictions"], 0);
}

TEST_F(Preload, RefusesInOneLine) {
  const auto expect_refused = [](const Outcome& run, const char* why) {
    EXPECT_EQ(run.code, 2);
    EXPECT_THAT(run.err, HasSubstr(why));
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  };
  const json budget = {{"budget", 1 << 30}};
  expect_refused(under_weir("/bin/true", budget), "/bin/true does not use libtorch");
  expect_refused(under_weir(kVictim, {{"budget", 1 << 30}, {"policy", "best"}}),
                 "unknown policy 'best'");
  expect_refused(under_weir(kVictim, budget, WEIR_PRELOAD ":" WEIR_OTHER_TORCH),
                 "is built for PyTorch 2.13.0, but this program uses 2.12.1");
}

TEST_F(Preload, DoesNothingWithoutOptions) {
  const Outcome run = shell("LD_PRELOAD=" WEIR_PRELOAD " " + kVictim);
  EXPECT_EQ(run.out, shell(kVictim).out);
  EXPECT_EQ(run.err, "");
}

}  // namespace
}  // namespace weir::libtorch::test
