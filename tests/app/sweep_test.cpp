#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "app/command.h"
#include "weir/registry.h"

namespace weir::app::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(SweepCommand, PrintsOneTableForEachTraceAndOrder) {
  const Outcome run = weir(
      "sweep traces/demo.jsonl.zst --policies h_dtr_eq,lru,random --budgets 0.1x,0.5x,1x "
      "--restore depth_first,lean --trials 3");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const std::vector<std::string> lines = lines_of(run.out);
  ASSERT_GE(lines.size(), 11u);
  EXPECT_THAT(lines[0], HasSubstr("demo  restore depth_first, deallocation eager"));
  EXPECT_THAT(lines[1], testing::MatchesRegex("policy +0.1x +0.5x +1x"));
  EXPECT_THAT(lines[3], testing::MatchesRegex("lru +T +1.3368 +1.0000"));
  EXPECT_THAT(lines[4], testing::MatchesRegex("random +T +1.[0-9]* +1.0000"));
  EXPECT_THAT(lines[6], HasSubstr("demo  restore lean"));
}

TEST(SweepCommand, RunsEveryPolicyThereIs) {
  const json got = json_from("sweep traces/demo.jsonl.zst --budgets 1x --trials 2 --json");
  std::size_t runs = 0;
  for (const PolicyEntry& entry : policies()) runs += entry.draws ? 2 : 1;
  ASSERT_EQ(got["cells"].size(), runs);
  for (const PolicyEntry& entry : policies())
    EXPECT_TRUE(std::ranges::any_of(got["cells"], [&](const json& cell) {
      return cell["policy"] == entry.name;
    })) << entry.name;
}

TEST(SweepCommand, SaysInJsonWhatReplaySays) {
  const json swept = json_from("sweep traces/demo.jsonl.zst --policies msps --budgets 0.4x --json");
  const json replayed =
      json_from("replay traces/demo.jsonl.zst --policy msps --budget 0.4x --json");
  ASSERT_EQ(swept["cells"].size(), 1u);
  for (const auto& [key, value] : swept["cells"][0].items()) EXPECT_EQ(value, replayed[key]) << key;
  EXPECT_EQ(swept["limit"], 2.0);
  EXPECT_EQ(swept["traces"][0]["peak_bytes"], replayed["trace_peak_bytes"]);
  EXPECT_EQ(swept["traces"][0]["floor_bytes"], replayed["floor_bytes"]);
}

TEST(SweepCommand, IsTheSameForAnyNumberOfJobs) {
  const std::string sweep =
      "sweep traces/demo.jsonl.zst --policies h_dtr_eq,random,belady --trials 3 --budgets "
      "0.3:1.0:0.1 --json --jobs ";
  const Outcome one = weir(sweep + "1");
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(weir(sweep + "2").out, one.out);
  EXPECT_EQ(weir(sweep + "7").out, one.out);
}

TEST(SweepCommand, WritesCsv) {
  const Folder folder;
  const std::string file = folder / "cells.csv";
  const std::string sweep =
      "sweep traces/demo.jsonl.zst --policies lru,size --budgets 0.1x,0.5x --csv ";
  const Outcome run = weir(sweep + file);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("policy"));  // the table too
  const std::vector<std::string> lines = lines_of(content_of(file));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_TRUE(lines[0].starts_with("trace,policy,restore,deallocation,seed,budget,"));
  EXPECT_TRUE(lines[1].starts_with("traces/demo.jsonl.zst,lru,lean,eager,0,0.1x,963635,thrash,,"));
  EXPECT_TRUE(lines[2].starts_with("traces/demo.jsonl.zst,lru,lean,eager,0,0.5x,4818176,ok,1.33"));
  EXPECT_EQ(weir(sweep + "-").out, content_of(file));
}

TEST(SweepCommand, QuotesOddNamesInCsv) {
  const Folder folder;
  const std::string odd = folder / "a,\"b\".trace";
  ASSERT_EQ(weir("trace generate chain --length 5 -o '" + odd + "'").code, 0);
  const Outcome run = weir("sweep '" + odd + "' --policies lru --budgets 1x --csv -");
  EXPECT_THAT(run.out, HasSubstr("a,\"\"b\"\".trace\",lru,lean"));
}

TEST(SweepCommand, TellsHoles) {
  const std::string sweep = "sweep traces/demo.jsonl.zst --policies size --budgets 0.4:0.43:0.01 ";
  EXPECT_THAT(weir(sweep).out,
              HasSubstr("holes: demo size lean: 0.41x 0.42x fail although 0.4x works\n"));
  const json holes = json_from(sweep + "--json")["holes"];
  ASSERT_EQ(holes.size(), 1u);
  EXPECT_EQ(holes[0]["fail"], json({"0.41x", "0.42x"}));
  EXPECT_EQ(holes[0]["works"], "0.4x");
}

TEST(SweepCommand, TellsTracesOfTheSameNameApart) {
  const Folder folder;
  const std::string other = folder / "demo.trace";
  ASSERT_EQ(weir("trace generate chain --length 9 -o " + other).code, 0);
  const Outcome run = weir("sweep traces/demo.jsonl.zst " + other + " --policies lru --budgets 1x");
  EXPECT_THAT(run.out, HasSubstr(std::string(kDemo) + "  restore"));
  EXPECT_THAT(run.out, HasSubstr(other + "  restore"));
}

// The curve is drawn by Python tools that may not be there.
TEST(SweepCommand, PlotsOrSaysWhatIsMissing) {
  const std::string sweep = "sweep traces/demo.jsonl.zst --policies lru --budgets 0.5:1.0:0.1 ";
  const Outcome plain = weir(sweep), plotted = weir(sweep + "--plot");
  EXPECT_EQ(plotted.code, 0);
  EXPECT_TRUE(plotted.out.starts_with(plain.out));
  if (plotted.err.empty())
    EXPECT_THAT(plotted.out, HasSubstr("budget, share of the peak"));
  else
    EXPECT_THAT(plotted.err, testing::MatchesRegex("weir: no curve: .*setup.sh.*\n"));
}

TEST(SmallestCommand, FindsHowLowEachOrderCanGo) {
  const std::string smallest =
      "smallest traces/demo.jsonl.zst --policies h_dtr_eq,lru --step 0.05 --budgets 0.5x,0.8x ";
  const json got = json_from(smallest + "--json");
  ASSERT_EQ(got["rows"].size(), 2u);
  for (const json& row : got["rows"]) {
    EXPECT_GE(row["lean"]["budget_bytes"], row["floor_bytes"]);
    EXPECT_GE(row["lean"]["of_floor"], 1.0);
    EXPECT_LE(row["lean"]["slowdown"], 2.0);
    const std::int64_t bytes = row["depth_first"]["budget_bytes"];
    const json again =
        json_from("replay traces/demo.jsonl.zst --restore depth_first --json --policy " +
                  row["policy"].get<std::string>() + " --budget " + std::to_string(bytes));
    EXPECT_EQ(again["slowdown"], row["depth_first"]["slowdown"]);
  }
  EXPECT_EQ(got["geometric_means"]["rows"], 2);
  EXPECT_EQ(got["slowdown_lean_of_depth_first"]["cells"], 4);
  EXPECT_EQ(weir(smallest + "--json --jobs 1").out, weir(smallest + "--json --jobs 3").out);
  EXPECT_THAT(weir(smallest).out, HasSubstr("geometric means of 2 rows"));
}

}  // namespace
}  // namespace weir::app::test
