// Whatever is wrong with the command line or a file: one line that says what, and exit code 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "app/command.h"

namespace weir::app::test {
namespace {

using testing::HasSubstr;

void expect_refused(const std::string& arguments, const std::string& why) {
  const Outcome run = weir(arguments);
  EXPECT_EQ(run.code, 2) << arguments;
  EXPECT_EQ(run.out, "") << arguments;
  EXPECT_TRUE(run.err.starts_with("weir: ")) << arguments << '\n' << run.err;
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << arguments << '\n' << run.err;
  EXPECT_THAT(run.err, HasSubstr(why)) << arguments;
}

TEST(BadInput, IsAWrongCommand) {
  expect_refused("", "subcommand is required; see weir --help");
  expect_refused("fly", "'fly' is no subcommand");
  expect_refused("--fly", "see weir --help");
  expect_refused("replay", "TRACE is required; see weir replay --help");
  expect_refused("trace", "see weir trace --help");
  expect_refused("trace info", "see weir trace info --help");
  expect_refused("sweep", "TRACE is required");
  expect_refused("smallest", "TRACE is required");
}

TEST(BadInput, IsAWrongBudget) {
  const std::string replay = "replay traces/demo.jsonl.zst ";
  expect_refused(replay, "--budget is required");
  expect_refused(replay + "--budget", "--budget");
  expect_refused(replay + "--budget ''", "''");
  expect_refused(replay + "--budget 0", "no memory at all");
  expect_refused(replay + "--budget 0x", "no memory at all");
  expect_refused(replay + "--budget -5", "'-5'");
  expect_refused(replay + "--budget=-0.5x", "'-0.5x'");
  expect_refused(replay + "--budget 0.5", "0.5x");
  expect_refused(replay + "--budget nan", "'nan'");
  expect_refused(replay + "--budget inf", "'inf'");
  expect_refused(replay + "--budget 5GX", "unit");
  expect_refused(replay + "--budget 99999999TiB", "1024 TiB");
  expect_refused(replay + "--budget 2000x", "1000 times");
  expect_refused(replay + "--budget 0.00000000001x", "no usable budget");
  expect_refused(replay + "--budget 0.5x --budget 0.6x", "--budget");
}

TEST(BadInput, IsAWrongOption) {
  const std::string replay = "replay traces/demo.jsonl.zst --budget 0.5x ";
  expect_refused(replay + "--policy best", "unknown policy 'best'; there are: h_dtr");
  expect_refused(replay + "--policy $'a\\nb'", "a\\x0ab");
  expect_refused(replay + "--plans plans", "makes no plans; use --policy planned");
  expect_refused(replay + "--policy planned --plans CHANGELOG.md", "is not a file of plans");
  expect_refused(replay + "--restore fast", "give lean or depth_first");
  expect_refused(replay + "--deallocation never", "'never'");
  expect_refused(replay + "--limit 0.99", "--limit");
  expect_refused(replay + "--limit nan", "--limit");
  expect_refused(replay + "--limit ''", "--limit");
  expect_refused(replay + "--seed -1", "--seed");
  expect_refused(replay + "--seed 1.5", "--seed");
  expect_refused(replay + "--seed 18446744073709551616", "--seed");
  expect_refused(replay + "--colour", "--colour");
  expect_refused(replay + "another.trace", "another.trace");
}

TEST(BadInput, IsAWrongSweep) {
  const std::string sweep = "sweep traces/demo.jsonl.zst ";
  expect_refused(sweep + "--policies lru,best", "'best'");
  expect_refused(sweep + "--policies lru,lru", "'lru' twice");
  expect_refused(sweep + "--policies lru,", "empty name");
  expect_refused(sweep + "--policies ''", "empty name");
  expect_refused(sweep + "--budgets ''", "''");
  expect_refused(sweep + "--budgets 0.5x,0.5x", "0.5x twice");
  expect_refused(sweep + "--budgets 0.5x,", "''");
  expect_refused(sweep + "--budgets 1:0.5:0.1", "ends before it begins");
  expect_refused(sweep + "--budgets 0.1:0.5:0", "step");
  expect_refused(sweep + "--budgets 0.1:0.5:nan", "range");
  expect_refused(sweep + "--restore lean,lean", "'lean' twice");
  expect_refused(sweep + "--deallocation eager,never", "'never'");
  expect_refused(sweep + "--jobs 0", "from 1 to 1024");
  expect_refused(sweep + "--jobs 1000000", "from 1 to 1024");
  expect_refused(sweep + "--jobs -1", "--jobs");
  expect_refused(sweep + "--trials 0", "--trials");
  expect_refused(sweep + "--limit 0", "--limit");
  expect_refused(sweep + "--json --csv -", "both want standard output");
  expect_refused(sweep + "--json --plot", "--plot");
  expect_refused(sweep + "--csv /nonexistent/x.csv", "/nonexistent/x.csv");
  expect_refused(sweep + "traces/demo.jsonl.zst", "given twice");
  expect_refused("smallest traces/demo.jsonl.zst --step 0", "--step");
  expect_refused("smallest traces/demo.jsonl.zst --step 1.5", "--step");
}

TEST(BadInput, IsAFileThatIsNoTrace) {
  const Folder folder;
  std::ofstream{folder / "empty"};
  std::ofstream{folder / "words"} << "this is no trace\n";
  std::ofstream{folder / "cut.trace"} << "{\"weir_trace\":1,\"views\":\"keep\"}\n";
  for (const std::string command : {"replay --budget 0.5x ", "sweep ", "smallest "}) {
    expect_refused(command + "/nonexistent.trace", "/nonexistent.trace: cannot be read");
    expect_refused(command + "traces", "traces: is a directory");
    expect_refused(command + "/dev/null", "is not a regular file");
    expect_refused(command + "''", "cannot be read");
    expect_refused(command + (folder / "empty"), folder / "empty");
    expect_refused(command + (folder / "words"), (folder / "words") + ":1: ");
    expect_refused(command + (folder / "cut.trace"), folder / "cut.trace");
  }
}

TEST(BadInput, IsAPipe) {
  const Outcome piped = bash("cat traces/demo.jsonl.zst | \"$W\" replay /dev/stdin --budget 0.5x");
  EXPECT_EQ(piped.code, 2);
  EXPECT_EQ(piped.err, "weir: /dev/stdin: is not a regular file; write it to one first\n");
}

TEST(BadInput, IsAShareOfATraceWithoutBytes) {
  const Folder folder;
  std::ofstream{folder / "none.trace"}
      << "{\"weir_trace\":1,\"views\":\"keep\"}\n{\"end\":true,\"events\":0}\n";
  expect_refused("replay --budget 0.5x " + (folder / "none.trace"), "peak of 0 bytes");
  EXPECT_EQ(json_from("replay --json --budget 5 " + (folder / "none.trace"))["slowdown"], 1.0);
  EXPECT_EQ(weir("replay --budget 5 " + (folder / "none.trace")).code, 0);
}

}  // namespace
}  // namespace weir::app::test
