#include "sim/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/command.h"
#include "pilot/steps.h"
#include "trace/info.h"
#include "trace/reader.h"
#include "trace/writer.h"

namespace weir::app::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(ReplayCommand, SaysInJsonWhatTheLibrarySays) {
  const json got = json_from("replay traces/demo.jsonl.zst --budget 0.5x --policy h_dtr --json");
  const Trace trace = trace::read_trace(std::filesystem::path{WEIR_SOURCE_DIR} / kDemo);
  const Bytes peak = trace::liveness_peak(trace);
  const sim::ReplayResult result =
      sim::replay(trace, find_policy("h_dtr"), {.budget = {peak.n / 2}});
  EXPECT_EQ(got["status"], "ok");
  EXPECT_EQ(got["slowdown"].get<double>(), result.slowdown());
  EXPECT_EQ(got["clock_ns"], result.clock.n);
  EXPECT_EQ(got["base_ns"], result.base.n);
  EXPECT_EQ(got["recompute_ns"], result.recompute.n);
  EXPECT_EQ(got["peak_bytes"], result.peak.n);
  EXPECT_EQ(got["budget_bytes"], peak.n / 2);
  EXPECT_EQ(got["trace_peak_bytes"], peak.n);
  EXPECT_EQ(got["evictions"], result.counters.evictions);
  EXPECT_EQ(got["releases"], result.counters.releases);
  EXPECT_EQ(got["recomputes"], result.counters.recomputes);
  EXPECT_EQ(got["scored"], result.counters.scored);
}

TEST(ReplayCommand, SaysInJsonWhatWasAsked) {
  const json got = json_from(
      "replay traces/demo.jsonl.zst --budget 6MiB --policy random --restore depth_first "
      "--deallocation banish --limit none --seed 7 --json");
  EXPECT_EQ(got["trace"], kDemo);
  EXPECT_EQ(got["budget"], "6291456");
  EXPECT_EQ(got["policy"], "random");
  EXPECT_EQ(got["restore"], "depth_first");
  EXPECT_EQ(got["deallocation"], "banish");
  EXPECT_TRUE(got["limit"].is_null());
  EXPECT_EQ(got["seed"], 7);
}

TEST(ReplayCommand, HasTheDefaultsItTells) {
  const json got = json_from("replay traces/demo.jsonl.zst --budget 0.5x --json");
  EXPECT_EQ(got["policy"], "h_dtr_eq");
  EXPECT_EQ(got["restore"], "lean");
  EXPECT_EQ(got["deallocation"], "eager");
  EXPECT_EQ(got["limit"], 2.0);
}

TEST(ReplayCommand, TellsWhatItWouldHaveTaken) {
  const std::string below = "replay traces/demo.jsonl.zst --budget 0.02x";
  const json got = json_from(below + " --json");
  EXPECT_EQ(got["status"], "out_of_budget");
  EXPECT_TRUE(got["slowdown"].is_null());
  EXPECT_EQ(got["smallest_budget_here_bytes"],
            got["need_bytes"].get<std::int64_t>() + got["held_bytes"].get<std::int64_t>());
  EXPECT_GT(got["smallest_budget_here_bytes"], got["budget_bytes"]);
  EXPECT_GT(got["floor_bytes"], got["budget_bytes"]);
  EXPECT_THAT(got["stopped_in"].get<std::string>(), HasSubstr("layer"));

  const Outcome told = weir(below);
  EXPECT_EQ(told.code, 1);
  EXPECT_EQ(told.err, "");
  EXPECT_THAT(told.out, HasSubstr("out of budget in op"));
}

TEST(ReplayCommand, TellsThatItThrashed) {
  const std::string low = "replay traces/demo.jsonl.zst --budget 0.1x --policy lru";
  EXPECT_EQ(json_from(low + " --json")["status"], "thrash");
  const Outcome told = weir(low);
  EXPECT_EQ(told.code, 1);
  EXPECT_THAT(told.out, HasSubstr("thrash"));
}

TEST(ReplayCommand, TellsPeopleWhatItCost) {
  const Outcome told = weir("replay traces/demo.jsonl.zst --budget 0.5x");
  EXPECT_EQ(told.code, 0);
  EXPECT_THAT(told.out, HasSubstr("finished, 1."));
  EXPECT_THAT(told.out, HasSubstr("budget           4.59 MiB (4818176 B, 0.5000x)"));
}

TEST(ReplayCommand, ReadsARedirectedFile) {
  const Outcome run = bash("\"$W\" replay /dev/stdin --budget 1x --json <traces/demo.jsonl.zst");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["slowdown"], 1.0);
}

TEST(ReplayCommand, FollowsThePlansOfTheRunBefore) {
  const Folder folder;
  const std::string made = folder / "made.trace", plans = folder / "plans";
  trace::write_trace(pilot::training(std::vector<pilot::Step>(4)), made);
  const std::string replay = "replay " + made + " --budget 0.7x --policy planned";
  const nlohmann::json alone = json_from(replay + " --json");
  EXPECT_EQ(json_from(replay + " --json --plans " + plans), alone);
  EXPECT_LT(json_from(replay + " --json --plans " + plans)["slowdown"], alone["slowdown"]);
  EXPECT_THAT(weir(replay + " --plans " + plans).out, HasSubstr("1 loaded, 1 saved"));
}

TEST(Command, KnowsItsVersionAndHelpsWithExamples) {
  EXPECT_THAT(weir("--version").out, testing::StartsWith("weir "));
  for (const char* command : {"", "replay", "sweep", "smallest", "trace", "trace info"}) {
    const Outcome help = weir(std::string(command) + " --help");
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_EQ(help.err, "") << command;
    EXPECT_THAT(help.out, HasSubstr("Example")) << command;
  }
}

// A sweep with more output than a pipe or a buffer holds.
std::string long_sweep(const Folder& folder) {
  const std::string made = folder / "made.trace";
  EXPECT_EQ(weir("trace generate chain --length 10 -o " + made).code, 0);
  return "sweep " + made + " --policies lru --budgets 0.5:1.0:0.001 --json";
}

TEST(Command, SaysThatItsOutputWasLost) {
  const Folder folder;
  for (const std::string& command : {std::string("replay traces/demo.jsonl.zst --budget 0.5x"),
                                     std::string("trace info traces/demo.jsonl.zst"),
                                     std::string("--help"), long_sweep(folder)}) {
    const Outcome run = bash("\"$W\" " + command + " >/dev/full");
    EXPECT_EQ(run.code, 1) << command;
    EXPECT_THAT(run.err, testing::MatchesRegex("weir: cannot write .*No space left.*\n"))
        << command;
  }
}

TEST(Command, SurvivesClosedStreams) {
  const Outcome closed = bash("\"$W\" replay traces/demo.jsonl.zst --budget 0.5x >&-");
  EXPECT_EQ(closed.code, 1);
  EXPECT_THAT(closed.err, HasSubstr("weir: cannot write"));
  EXPECT_EQ(bash("\"$W\" replay nothing --budget 0.5x <&- >&- 2>&-").code, 2);
}

TEST(Command, DoesNotWriteItsOutputIntoAFileItMakes) {
  const Folder folder;
  const std::string made = folder / "made.trace";
  EXPECT_EQ(bash("\"$W\" trace generate chain --length 5 -o " + made + " >&-").code, 1);
  EXPECT_EQ(weir("trace validate " + made).code, 0);
}

TEST(Command, EndsQuietlyWhenNobodyReads) {
  const Folder folder;
  const Outcome run = bash("\"$W\" " + long_sweep(folder) + " | head -c 1; exit ${PIPESTATUS[0]}");
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(run.out, "{");
  EXPECT_EQ(run.err, "");
}

TEST(Command, GoesFromGeneratedTraceToReplay) {
  const Folder folder;
  const std::string made = folder / "made.jsonl.zst", copy = folder / "copy.trace";
  ASSERT_EQ(weir("trace generate tree --depth 5 -o " + made).code, 0);
  ASSERT_EQ(weir("trace convert " + made + " " + copy).code, 0);
  json a = json_from("replay --budget 0.6x --json " + made);
  json b = json_from("replay --budget 0.6x --json " + copy);
  EXPECT_EQ(a["status"], "ok");
  a.erase("trace");
  b.erase("trace");
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace weir::app::test
