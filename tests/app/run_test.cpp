// What `weir run` and `weir record` start, and how. A shell script by the name of an interpreter
// stands in for Python and prints what it is given: no torch is needed here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "app/command.h"

namespace weir::app::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kPackage = WEIR_SOURCE_DIR "/python/weir/__main__.py";

class RunCommand : public testing::Test {
 protected:
  // An executable file with these lines.
  std::string script(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    std::ofstream{path} << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  // Prints each of its arguments on a line.
  std::string python(const std::string& name = "python3") {
    return script(name, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
  }

  void expect_refused(const std::string& arguments, const std::string& why) {
    const Outcome run = weir(arguments);
    EXPECT_EQ(run.code, 2) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    EXPECT_TRUE(run.err.starts_with("weir: ")) << arguments << '\n' << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << arguments << '\n' << run.err;
    EXPECT_THAT(run.err, HasSubstr(why)) << arguments;
  }

  // What the interpreter was given by `weir ARGUMENTS`, between blanks.
  std::string given(const std::string& arguments) {
    Outcome run = weir(arguments);
    EXPECT_EQ(run.code, 0) << arguments << '\n' << run.err;
    std::ranges::replace(run.out, '\n', ' ');
    return run.out;
  }

  Folder folder_;
};

TEST_F(RunCommand, StartsPythonWithThePackageAndTheOptions) {
  const std::string interpreter = python();
  EXPECT_EQ(given("run --budget 2GiB -- " + interpreter + " train.py --lr 3"),
            std::string(kPackage) + " run --budget=2GiB -- train.py --lr 3 ");
  EXPECT_EQ(given("run --budget auto --peak 3GiB --policy lru --smallest 64KiB --tier /x:1GiB "
                  "--no-recompute --checksum --quiet --json a.json --record a.trace "
                  "--addresses keep --compile eager -- " +
                  interpreter + " train.py"),
            std::string(kPackage) +
                " run --budget=auto --peak=3GiB --policy=lru --smallest=64KiB --tier=/x:1GiB "
                "--addresses=keep --compile=eager --json=a.json --record=a.trace --no-recompute "
                "--checksum --quiet "
                "-- train.py ");
}

TEST_F(RunCommand, KeepsWhatIsForTheInterpreterItself) {
  const std::string run = "run --budget 1GiB -- " + python() + " ";
  const std::string package = std::string(kPackage) + " run --budget=1GiB -- ";
  EXPECT_EQ(given(run + "-u -X dev -Wignore a.py -u"),
            "-u -X dev -Wignore " + package + "a.py -u ");
  EXPECT_EQ(given(run + "-m pkg.train -v"), package + "-m pkg.train -v ");
  EXPECT_EQ(given(run + "-um pkg.train"), "-u " + package + "-m pkg.train ");
  EXPECT_EQ(given(run + "-c pass"), package + "-c pass ");
  EXPECT_EQ(given(run + "-cpass"), package + "-c pass ");
  EXPECT_EQ(given(run + "-uW error - x"), "-uW error " + package + "- x ");
}

TEST_F(RunCommand, TakesTheProgramWithOrWithoutDashes) {
  const std::string interpreter = python();
  EXPECT_EQ(given("run --budget 1GiB " + interpreter + " a.py --lr 3 -- x"),
            given("run --budget 1GiB -- " + interpreter + " a.py --lr 3 -- x"));
}

TEST_F(RunCommand, PassesEveryWordOnUnchanged) {
  EXPECT_THAT(
      given("run --budget 1GiB -- " + python() + " a.py '[1,2]' '' --budget 5 '%' -- replay"),
      EndsWith("-- a.py [1,2]  --budget 5 % -- replay "));
}

TEST_F(RunCommand, KnowsAPythonByItsName) {
  EXPECT_THAT(given("run --budget 1GiB -- " + python("python3.11") + " a.py"),
              StartsWith(kPackage));
  EXPECT_THAT(given("run --budget 1GiB -- " + python("python") + " a.py"), StartsWith(kPackage));
}

TEST_F(RunCommand, KnowsAScriptByItsFirstLine) {
  const std::string interpreter = python();
  const std::string direct = script("direct", "#!" + interpreter + " -u\n");
  const std::string by_env = script("by_env", "#!/usr/bin/env -S FOO=1 " + interpreter + " -u\n");
  const std::string by_shell =
      script("by_shell", "#!/bin/sh\n'''exec' \"" + interpreter + "\" \"$0\" \"$@\"\n' '''\n");
  const std::string package = std::string(kPackage) + " run --budget=1GiB -- ";
  EXPECT_EQ(given("run --budget 1GiB -- " + direct + " x"), "-u " + package + direct + " x ");
  EXPECT_EQ(given("run --budget 1GiB -- " + by_env + " x"), "-u " + package + by_env + " x ");
  EXPECT_EQ(given("run --budget 1GiB -- " + by_shell + " x"), package + by_shell + " x ");
}

TEST_F(RunCommand, LooksInThePath) {
  python();
  const Outcome run =
      bash("PATH=\"" + (folder_ / "") + ":$PATH\" \"$W\" run --budget 1GiB -- python3 a.py");
  EXPECT_THAT(run.out, StartsWith(kPackage));
}

TEST_F(RunCommand, LeavesTheEnvironmentOfPythonAlone) {
  const std::string interpreter = script("python3", "#!/bin/sh\nexec env\n");
  const Outcome direct = bash(interpreter + " | grep -v '^_=' | sort");
  const Outcome run =
      bash("\"$W\" run --budget 1GiB -- " + interpreter + " a.py | grep -v '^_=' | sort");
  EXPECT_EQ(run.out, direct.out);
}

TEST_F(RunCommand, EndsAsTheProgramEnds) {
  EXPECT_EQ(weir("run --budget 1GiB -- " + script("python", "#!/bin/sh\nexit 41\n") + " x").code,
            41);
  EXPECT_EQ(
      weir("run --budget 1GiB -- " + script("python3", "#!/bin/sh\nkill -9 $$\n") + " x").code,
      128 + 9);
}

TEST_F(RunCommand, GivesTheProgramItsInput) {
  const std::string interpreter = script("python", "#!/bin/sh\ncat\n");
  EXPECT_EQ(bash("echo in | \"$W\" run --budget 1GiB -- " + interpreter + " x").out, "in\n");
}

// The library to preload is only named, so a program that loads none shows what it was told.
TEST_F(RunCommand, TellsABinaryByTheEnvironment) {
  std::ofstream{folder_ / "libweir_preload.so"};
  const std::string start = "export WEIR_LIBRARY=" + (folder_ / "libweir_torch.so") + "; \"$W\" ";
  const Outcome run = bash(start + "run --budget 0.5x --smallest 4KiB --no-recompute --json " +
                           (folder_ / "a.json") + " -- /usr/bin/env 2>/dev/null");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("LD_PRELOAD=" + (folder_ / "libweir_preload.so") + "\n"));
  EXPECT_THAT(run.out,
              HasSubstr("WEIR_OPTIONS={\"budget\":0,\"fraction\":0.5,\"recompute\":false"));
  EXPECT_THAT(run.out, HasSubstr("\"smallest\":4096,\"json\":\"" + (folder_ / "a.json") + "\"}"));
  const Outcome record = bash(start + "record -o " + (folder_ / "t") + " -- /usr/bin/env 2>&1");
  EXPECT_THAT(record.out, HasSubstr("WEIR_OPTIONS={\"record\":\"" + (folder_ / "t")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "t"));
}

TEST_F(RunCommand, RefusesABinaryThatItCannotServe) {
  std::ofstream{folder_ / "libweir_preload.so"};
  const auto refused = [&](const std::string& options, const std::string& why) {
    const Outcome run = bash("export WEIR_LIBRARY=" + (folder_ / "x.so") + "; \"$W\" run " +
                             options + " -- /usr/bin/env");
    EXPECT_EQ(run.code, 2) << options;
    EXPECT_THAT(run.err, HasSubstr(why)) << options;
  };
  refused("--budget auto", "Python programs only");
  refused("--budget 1GiB --json /nonexistent/a.json", "'/nonexistent/a.json' cannot be written");
  refused("--budget 1GiB --record /tmp", "'/tmp' cannot be written");
}

TEST_F(RunCommand, RefusesWhatItCannotStart) {
  const std::string run = "run --budget 1GiB ";
  expect_refused(run, "the program to run is missing");
  expect_refused(run + "--", "the program to run is missing");
  expect_refused(run + "-- ''", "name is empty");
  expect_refused(run + "-- no_such_program", "'no_such_program' is not in PATH");
  expect_refused(run + "-- ./no_such_program", "does not exist");
  expect_refused(run + "-- /tmp", "is a folder");
  expect_refused(run + "-- ./CMakeLists.txt", "not executable; for a Python script give: python");
  expect_refused(run + "-- CMakeLists.txt", "not executable");
  expect_refused(run + "-- " + python(), "given no program");
  expect_refused(run + "-- " + python() + " -u", "given no program");
  expect_refused(run + "-- " + script("a.sh", "#!/bin/sh\n"), "is a script for /bin/sh");
  expect_refused(run + "-- " + script("b", "#!/nonexistent/python3\n"), "does not exist");
}

TEST_F(RunCommand, RefusesWrongOptions) {
  const std::string program = " -- " + python() + " a.py";
  expect_refused("run" + program, "--budget is required");
  expect_refused("run --budget 0" + program, "no memory at all");
  expect_refused("run --budget 5GX" + program, "unit");
  expect_refused("run --budget -1" + program, "'-1'");
  expect_refused("run --budget 9999999TiB" + program, "1024 TiB");
  expect_refused("run --budget 1GiB --policy best" + program, "unknown policy 'best'");
  expect_refused("run --budget 1GiB --smallest x" + program, "'x'");
  expect_refused("run --budget 1GiB --peak 1.5" + program, "'1.5'");
  expect_refused("run --budget 1GiB --compile fast" + program, "give leave or eager");
  expect_refused("run --budget 1GiB --addresses stay" + program, "give auto, move or keep");
  expect_refused("run --budget 1GiB --colour" + program, "'--colour' is no option of weir run");
  expect_refused("record" + program, "-o is required");
  expect_refused("record -o t --budget 1GiB" + program, "'--budget' is no option of weir record");
}

TEST_F(RunCommand, RecordsLikewise) {
  EXPECT_EQ(given("record -o run.trace --json a.json --quiet -- " + python() + " a.py -o x"),
            std::string(kPackage) + " record -o run.trace --json=a.json --quiet -- a.py -o x ");
}

TEST_F(RunCommand, HelpsWithExamples) {
  for (const char* command : {"run", "record"}) {
    const Outcome help = weir(std::string(command) + " --help");
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("Example")) << command;
    EXPECT_THAT(help.out, HasSubstr("-- python")) << command;
  }
}

}  // namespace
}  // namespace weir::app::test
