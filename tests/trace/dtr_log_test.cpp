#include "trace/dtr_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/file_bytes.h"
#include "trace/testing.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

using test::error_of;
using test::same_content;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The lines of a log, as DTR's logger writes them.
std::string constant(const std::string& x, int bytes) {
  return "{'INSTRUCTION':'CONSTANT','NAME':'" + x + "'}\n{'INSTRUCTION':'MEMORY','MEMORY':'" +
         std::to_string(bytes) + "','NAME':'" + x + "'}\n";
}
std::string call(const std::string& op, const std::string& args, const std::string& result,
                 int bytes, int alias = -1) {
  return "{'ARGS':[" + args + "],'INSTRUCTION':'CALL','NAME':'" + op + "','RESULT':['" + result +
         "'],'TIME':'7'}\n{'INSTRUCTION':'MEMORY','MEMORY':'" + std::to_string(bytes) +
         "','NAME':'" + result + "'}\n{'ALIAS':'" + std::to_string(alias) +
         "','INSTRUCTION':'ALIAS','NAME':'" + result + "'}\n";
}
std::string mutate(const std::string& op, const std::string& args, const std::string& places) {
  return "{'ARGS':[" + args + "],'INSTRUCTION':'MUTATE','MUTATE':[" + places + "],'NAME':'" + op +
         "','TIME':'3'}\n";
}
std::string copy(const std::string& to, const std::string& from, const char* how = "COPY") {
  return "{'DST':'" + to + "','INSTRUCTION':'" + how + "','SRC':'" + from + "'}\n";
}
std::string release(const std::string& x) {
  return "{'INSTRUCTION':'RELEASE','NAME':'" + x + "'}\n";
}
std::string annotate(const std::string& what) {
  return "{'ANNOTATION':'" + what + "','INSTRUCTION':'ANNOTATE'}\n";
}
const std::string kStart = annotate("START");

// Reads with both parsers, which must agree.
Trace read(const std::string& quoted) {
  std::string text = test::json(quoted);
  Trace fast = read_dtr_log(text, "log", DtrParser::Fast);
  Trace generic = read_dtr_log(text, "log", DtrParser::Generic);
  EXPECT_TRUE(same_content(fast, generic));
  EXPECT_EQ(fast.lines, generic.lines);
  return fast;
}

std::string events_of(const Trace& trace) {
  std::string text;
  for (const TraceEvent& event : trace.events)
    text +=
        std::string(1, "COtrKS"[static_cast<int>(event.kind)]) + std::to_string(event.item) + " ";
  return text;
}

TEST(DtrLog, BecomesConstantsOpsAndReferences) {
  Trace trace = read(kStart + constant("x1", 16) + copy("x2", "x1") + release("x1") +
                     call("relu", "'x2'", "x3", 8) + release("x2"));
  EXPECT_EQ(events_of(trace), "C0 t0 r0 O0 r0 K1 ");
  EXPECT_EQ(trace.views, ViewRule::Rerun);
  EXPECT_EQ(trace.start, Nanos{1});
  EXPECT_EQ(trace.storages[0].size, Bytes{16});
  EXPECT_EQ(trace.ops[0].cost, Nanos{7});
  EXPECT_EQ(trace.names[trace.ops[0].name], "relu");
  EXPECT_EQ(trace.lines, 9u);
}

TEST(DtrLog, AliasesShareTheStorageOfTheirArgument) {
  Trace trace = read(kStart + constant("x1", 16) + call("view", "'x1'", "x2", 256, 0));
  EXPECT_EQ(trace.storages.size(), 1u);
  EXPECT_EQ(trace.tensors[1].alias_of, 0);
}

TEST(DtrLog, MutationCopiesOnWriteAndMovesTheName) {
  Trace trace = read(kStart + constant("x1", 16) + call("view", "'x1'", "x2", 0, 0) +
                     mutate("add_", "'x2','x1'", "0,1") + call("f", "'x2'", "x3", 4));
  EXPECT_EQ(events_of(trace), "C0 O0 O1 r1 r0 O2 K3 K2 K4 ");
  EXPECT_EQ(trace.storages[1].size, Bytes{16});
  EXPECT_TRUE(trace.mutated.empty());
  EXPECT_EQ(trace.inputs_of(trace.ops[2])[0], TensorId{2});
}

TEST(DtrLog, CopyFromMovesTheNameToo) {
  Trace trace = read(kStart + constant("x1", 1) + constant("x2", 2) +
                     copy("x1", "x2", "COPY_FROM") + release("x1"));
  EXPECT_EQ(events_of(trace), "C0 C1 r0 t1 r1 K1 K1 ");
}

TEST(DtrLog, ReleasesOfUnknownNamesAreIgnored) {
  Trace trace = read(kStart + release("x9") + constant("x9", 1) + constant("x1", 1));
  EXPECT_EQ(events_of(trace), "C0 C1 K0 K1 ");
}

TEST(DtrLog, AReleasedNameStaysBoundAndMayBeUsed) {
  Trace trace = read(kStart + constant("x1", 1) + call("f", "'x1'", "x2", 1) + release("x2") +
                     call("g", "'x2','x2'", "x3", 1));
  EXPECT_EQ(events_of(trace), "C0 O0 r1 O1 K0 K2 ");
}

TEST(DtrLog, KeepsWhatIsHeldInTheOrderOfFirstBinding) {
  Trace trace = read(kStart + constant("x5", 1) + constant("x1", 1) + copy("x0", "x5") +
                     mutate("f_", "'x5'", "0"));
  EXPECT_EQ(events_of(trace), "C0 C1 t0 O0 r0 K2 K1 K0 ");
}

TEST(DtrLog, AConstantMayTakeAName) {  // simrd looks only at results and copies
  Trace trace = read(kStart + constant("x1", 1) + constant("x2", 2) + constant("x1", 3));
  EXPECT_EQ(events_of(trace), "C0 C1 C2 K2 K1 ");
}

TEST(DtrLog, BackwardBeginsAtTheAnnotationOrAtAnOpNamedSo) {
  Trace told =
      read(kStart + call("f", "", "x1", 1) + annotate("BACKWARD") + call("g", "", "x2", 1));
  EXPECT_EQ(told.ops[0].phase, Phase::Forward);
  EXPECT_EQ(told.ops[1].phase, Phase::Backward);
  Trace seen = read(kStart + call("f", "", "x1", 1) + call("f_backward", "", "x2", 1) +
                    call("f", "", "x3", 1));
  EXPECT_EQ(seen.ops[1].phase, Phase::Backward);
  EXPECT_EQ(seen.ops[2].phase, Phase::Backward);
  Trace both = read(kStart + call("max_pool2d_backward", "", "x1", 1) + annotate("BACKWARD") +
                    call("g", "", "x2", 1));
  EXPECT_EQ(both.ops[0].phase, Phase::Forward);
  EXPECT_EQ(both.ops[1].phase, Phase::Backward);
}

TEST(DtrLog, BeginsAfterStartIfThereIsOne) {
  EXPECT_EQ(read(constant("x1", 1) + kStart + constant("x1", 2)).storages.size(), 1u);
  EXPECT_EQ(read(constant("START", 1) + constant("x1", 2)).storages.size(), 2u);
  EXPECT_EQ(read("any {'rubbish'\n" + kStart + constant("x1", 2)).lines, 4u);
}

TEST(DtrLog, LinesOfOtherShapesMeanTheSame) {
  Trace usual = read(kStart + constant("x1", 16) + call("f", "'x1'", "x2", 8) + release("x1"));
  Trace other = read(
      "{ 'INSTRUCTION': 'ANNOTATE', 'ANNOTATION': 'START' }\r\n"
      "{'NAME':'x1','INSTRUCTION':'CONSTANT'}\n\n"
      "  {'MEMORY':16,'NAME':'x\\u0031','INSTRUCTION':'MEMORY'}\n"
      "{'INSTRUCTION':'CALL','NAME':'f','ARGS':[ 'x1' ],'RESULT':['x2'],'TIME':7,'MORE':{}}\n"
      "{'INSTRUCTION':'MEMORY','MEMORY':'8','NAME':'x2'}\n"
      "{'INSTRUCTION':'ALIAS','ALIAS':-1,'NAME':'x2'}\n"
      "{'NAME':'x1','INSTRUCTION':'RELEASE'}");
  EXPECT_TRUE(same_content(usual, other));
}

TEST(DtrLog, TellsApartNamesThatLookAlike) {
  for (const char* name : {"x01", "x1a", "y1", "x", "x18446744073709551617", "x4294967295"}) {
    Trace trace = read(kStart + constant("x1", 1) + constant(name, 2) + release("x1"));
    EXPECT_EQ(events_of(trace), "C0 C1 r0 K1 ") << name;
  }
}

TEST(DtrLog, FindsNumbersFarApart) {
  Trace trace = read(kStart + constant("x500", 1) + constant("x4000000000", 2) + constant("x3", 3) +
                     release("x4000000000") + release("x3"));
  EXPECT_EQ(events_of(trace), "C0 C1 C2 r1 r2 K0 ");
}

struct Mistake {
  std::string text;
  const char* error;
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << test::plain(mistake.error) << "_in_" << test::plain(mistake.text);
}

class DtrLogMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(DtrLogMistakes, AreReportedWithTheirLine) {
  std::string text = test::json(kStart + GetParam().text);
  EXPECT_THAT(error_of(text, "log"), StartsWith(GetParam().error));
  EXPECT_THROW(read_dtr_log(text, "log", DtrParser::Generic), BadInput);
}

const std::string kCall =
    "{'ARGS':[],'INSTRUCTION':'CALL','NAME':'f','RESULT':['x1'],'TIME':'7'}\n";
const std::string kSize = "{'INSTRUCTION':'MEMORY','MEMORY':'8','NAME':'x1'}\n";

INSTANTIATE_TEST_SUITE_P(
    All, DtrLogMistakes,
    ::testing::Values(
        Mistake{call("f", "'x9'", "x1", 1), "log:2: tensor 'x9' is used before its definition"},
        Mistake{mutate("f", "'x9'", "0"), "log:2: tensor 'x9' is used before its definition"},
        Mistake{mutate("f", "", "0"), "log:2: MUTATE 0 is no index into its 0 ARGS"},
        Mistake{copy("x1", "x2"), "log:2: tensor 'x2' is used before"},
        Mistake{constant("x1", 1) + copy("x1", "x1"),
                "log:4: COPY to 'x1', which is defined already"},
        Mistake{constant("x1", 1) + copy("x2", "x1", "COPY_FROM"),
                "log:4: tensor 'x2' is used before"},
        Mistake{constant("x1", 1) + call("f", "", "x1", 1),
                "log:4: result 'x1' of CALL is defined already"},
        Mistake{constant("x1", 1) + release("x1") + release("x1"),
                "log:5: a tensor is released more often"},
        Mistake{call("f", "", "x1", 1, 0), "log:4: ALIAS 0 is no index into the 0 ARGS"},
        Mistake{call("f", "", "x1", 1, -2), "log:4: ALIAS -2 is no index"},
        Mistake{call("f", "", "x1", -1), "log:4: a storage cannot have a negative size"},
        Mistake{constant("x1", -1), "log:3: a storage cannot have a negative size"},
        Mistake{kCall,
                "log:2: CALL must be followed by MEMORY and ALIAS of each result, and a MEMORY"},
        Mistake{kCall + kSize,
                "log:3: CALL must be followed by MEMORY and ALIAS of each result, and an ALIAS"},
        Mistake{kCall + kSize + kSize, "log:4: CALL must be followed"},
        Mistake{kCall + "{'INSTRUCTION':'MEMORY','MEMORY':'8','NAME':'x2'}\n",
                "log:3: this line must describe 'x1', not 'x2'"},
        Mistake{kSize, "log:2: MEMORY and ALIAS must follow the CONSTANT or CALL"},
        Mistake{"{'INSTRUCTION':'CONSTANT','NAME':'x1'}\n", "log:2: CONSTANT must be followed"},
        Mistake{"{'INSTRUCTION':'PIN','NAME':'x1'}\n", "log:2: instruction 'PIN' is not known"},
        Mistake{"{'INSTRUCTION':'RELEASE'}\n", "log:2: the instruction lacks NAME"},
        Mistake{"{'NAME':'x1'}\n", "log:2: the instruction lacks INSTRUCTION"},
        Mistake{"{'INSTRUCTION':'CALL','NAME':'f','RESULT':[],'TIME':'1'}\n",
                "log:2: the instruction lacks ARGS"},
        Mistake{"{'INSTRUCTION':'RELEASE','NA", "log:2: the line is cut off"},
        Mistake{"{'INSTRUCTION':'MEMORY','MEMORY':'many','NAME':'x1'}\n",
                "log:2: 'many' is not a whole number"},
        Mistake{"hello\n", "log:2: this is not one JSON object"},
        Mistake{std::string("\0\0\0\n", 4), "log:2: this is not one JSON object"},
        Mistake{"{'INSTRUCTION':'REL\x1b[31mEASE'}\n", "log:2: this is not one JSON object"},
        Mistake{"{'INSTRUCTION':'\xff'}\n", "log:2: the text is not UTF-8"}));

TEST(DtrLog, ReportsAreOneShortLine) {
  std::string error = error_of(test::json(kStart) + std::string(100000, 'x') + "\n\n\n", "a\nb");
  EXPECT_THAT(error, StartsWith("a\\x0ab:2: "));
  EXPECT_LT(error.size(), 200u);
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

class PublishedLogs : public ::testing::TestWithParam<std::string> {};

TEST_P(PublishedLogs, AreReadTheSameByBothParsers) {
  auto file = test::data_file("dtr-logs/" + GetParam() + ".log");
  if (!file) GTEST_SKIP() << "dtr-logs/" << GetParam() << ".log is not there; set WEIR_DATA";
  std::vector<char> bytes = file_bytes(*file);
  Trace fast = read_dtr_log(bytes, "log", DtrParser::Fast);
  EXPECT_TRUE(same_content(fast, read_dtr_log(bytes, "log", DtrParser::Generic)));
  EXPECT_TRUE(same_content(fast, test::read(test::written(fast))));
}

INSTANTIATE_TEST_SUITE_P(All, PublishedLogs,
                         ::testing::Values<std::string>("resnet32-56", "transformer-10",
                                                        "treelstm-6", "tv_densenet121-84",
                                                        "unet-6"));

}  // namespace
}  // namespace weir::trace
