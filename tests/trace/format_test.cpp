// Weir's own format: what is written can be read, and what is wrong is said with file and line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/builder.h"
#include "trace/generate.h"
#include "trace/reader.h"
#include "trace/testing.h"
#include "trace/writer.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

using test::error_of;
using test::json;
using test::read;
using test::same_content;
using test::written;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kHeader = "{'weir_trace':1,'views':'keep'}\n";

std::string with_header(std::string_view lines) { return json(std::string(kHeader).append(lines)); }

TEST(WeirFormat, ReadsTheExampleOfItsDocumentation) {
  std::string document = test::bytes_of(WEIR_SOURCE_DIR "/docs/trace_format.md");
  std::size_t first = document.find(json("{'weir_trace'"));
  ASSERT_NE(first, std::string::npos);
  Trace trace = read(document.substr(first, document.find("```", first) - first));
  EXPECT_EQ(trace.ops.size(), 3u);
  EXPECT_EQ(trace.events.size(), 10u);
  EXPECT_EQ(trace.lines, 12u);
}

TEST(WeirFormat, GivesBackWhatWasWritten) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Trace made = training_step(seed);
    EXPECT_TRUE(same_content(made, read(written(made)))) << "seed " << seed;
    EXPECT_TRUE(same_content(made, read(written(made, true)))) << "seed " << seed;
    Trace log = random_log_trace(seed);
    EXPECT_TRUE(same_content(log, read(written(log)))) << "seed " << seed;
  }
}

TEST(WeirFormat, GivesBackLayoutsScratchAndStrangeNames) {
  const std::int64_t shape[] = {2, 3}, strides[] = {1, 2};
  TraceBuilder builder{ViewRule::Keep, "t", Nanos{42}};
  TensorId x =
      builder.constant({24}, {.dtype = "a\"\\\n\x01\u00e9", .shape = shape, .strides = strides});
  const Output scalar[] = {{.size = {4}, .layout = {.dtype = "int8", .offset = 3}}};
  builder.op({.name = "", .inputs = std::span(&x, 1), .outputs = scalar, .scratch = {7}});
  Trace made = std::move(builder).finish();
  EXPECT_TRUE(same_content(made, read(written(made))));
}

TEST(WeirFormat, GivesBackArgumentsAndSettings) {
  const std::int64_t shape[] = {2, 3}, strides[] = {1, 2}, two[] = {2, 2}, yes[] = {1};
  TraceBuilder builder{ViewRule::Keep, "t"};
  TensorId x = builder.constant({24});
  const std::uint32_t turned =
      builder.layout({.dtype = "float32", .shape = shape, .strides = strides, .offset = 1});
  const std::uint32_t number = builder.layout({.dtype = "float64"});
  EXPECT_EQ(builder.layout({.dtype = "float64"}), number);
  const TraceArgument arguments[] = {{turned, 0}, {}, {number, TraceArgument::kNotInput}, {0, 0}};
  const Setting settings[] = {{"stride", two}, {"transposed", yes}, {"none"}};
  for (int i = 0; i < 2; ++i)
    builder.op(
        {.name = "conv", .inputs = std::span(&x, 1), .arguments = arguments, .settings = settings});
  Trace made = std::move(builder).finish();
  Trace again = read(written(made));
  EXPECT_TRUE(same_content(made, again));
  ASSERT_EQ(again.arguments_of(again.ops[1]).size(), 4u);
  const Layout layout = again.layout_of(again.layouts[again.arguments_of(again.ops[1])[0].layout]);
  EXPECT_THAT(layout.shape, ::testing::ElementsAre(2, 3));
  EXPECT_THAT(layout.strides, ::testing::ElementsAre(1, 2));
  EXPECT_EQ(layout.offset, 1);
  EXPECT_THAT(again.values_of(again.settings_of(again.ops[1])[0]), ::testing::ElementsAre(2, 2));
}

TEST(WeirFormat, TellsALayoutOnceAndNamesItLater) {
  Trace trace = read(with_header(
      "{'op':'f','ns':1,'out':[{'tensor':0,'storage':0,'bytes':4,'layout':7,'dtype':'int8',"
      "'shape':[4]}]}\n"
      "{'op':'g','ns':1,'in':[0],'out':[{'tensor':1,'storage':1,'bytes':4,'layout':7}],"
      "'args':[{'in':0,'layout':7}]}\n{'end':true,'events':2}\n"));
  EXPECT_EQ(trace.layout_of(trace.tensors[1]).dtype, "int8");
  EXPECT_THAT(trace.layout_of(trace.layouts[trace.arguments[0].layout]).shape,
              ::testing::ElementsAre(4));
  std::string text = written(trace);
  EXPECT_EQ(text.find("dtype"), text.rfind("dtype"));
}

TEST(WeirFormat, RefusesToWriteNamesThatAreNotUtf8) {
  TraceBuilder builder{ViewRule::Keep, "t"};
  builder.op({.name = "\xff"});
  Trace made = std::move(builder).finish();
  EXPECT_THROW(written(made), BadInput);
}

TEST(WeirFormat, MapsAnyNumbersToDenseOnes) {
  Trace trace =
      read(with_header("{'constant':9223372036854775807,'storage':77,'bytes':1}\n"
                       "{'op':'f','ns':1,'in':[9223372036854775807],"
                       "'out':[{'tensor':0,'view_of':0,'storage':77}]}\n"
                       "{'end':true,'events':2}\n"));
  EXPECT_EQ(trace.inputs[0], TensorId{0});
  EXPECT_EQ(trace.tensors[1].storage, StorageId{0});
}

TEST(WeirFormat, IgnoresUnknownKeysAndBlankLines) {
  std::string text = json(
      "\n{'weir_trace':1,'views':'rerun','model':{'a':[1]},'x':null}\r\n\n"
      "{'step':1,'loss':0.5}\r\n{'end':true,'events':1}");
  EXPECT_EQ(read(text).events.size(), 1u);
  EXPECT_EQ(read(text).views, ViewRule::Rerun);
}

TEST(WeirFormat, StridesDefaultToContiguous) {
  Trace trace =
      read(with_header("{'constant':0,'storage':0,'bytes':24,'dtype':'float32','shape':[2,3]}\n"
                       "{'end':true,'events':1}\n"));
  EXPECT_EQ(trace.geometry, (std::vector<std::int64_t>{2, 3, 3, 1, 0}));
}

struct Mistake {
  const char* lines;  // after the header
  const char* error;
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << test::plain(mistake.error) << "_in_" << test::plain(mistake.lines);
}

class WeirFormatMistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(WeirFormatMistakes, AreReportedWithTheirLine) {
  EXPECT_THAT(error_of(with_header(GetParam().lines)), HasSubstr(GetParam().error));
}

#define CONSTANT "{'constant':0,'storage':0,'bytes':8}\n"
INSTANTIATE_TEST_SUITE_P(
    All, WeirFormatMistakes,
    ::testing::Values(
        Mistake{"", "t:1: the trace is cut off"}, Mistake{CONSTANT, "t:2: the trace is cut off"},
        Mistake{CONSTANT "{'rel", "t:3: the trace is cut off"},
        Mistake{CONSTANT "{'end':true,'events':2}\n", "t:3: the trace says that it has 2 events"},
        Mistake{"{'end':true,'events':0}\n{'step':1}\n", "t:3: text follows the end"},
        Mistake{"{'dance':1}\n", "t:2: 'dance' is no event"},
        Mistake{"{}\n", "t:2: an event has no keys"},
        Mistake{"[1]\n", "t:2: a value has the wrong type"},
        Mistake{"{'step':1}{'step':2}\n", "t:2: this is not one JSON object"},
        Mistake{"{'step':yes}\n", "t:2: this is not one JSON object"},
        Mistake{"{'release':5}\n", "t:2: tensor 5 does not exist"},
        Mistake{"{'release':-1}\n", "t:2: tensor -1 does not exist"},
        Mistake{"{'release':'0'}\n", "t:2: \"release\" must be a whole number"},
        Mistake{"{'release':99999999999999999999}\n", "t:2: a number is not a whole number"},
        Mistake{CONSTANT "{'release':0}\n{'release':0}\n", "t:4: a tensor is released more often"},
        Mistake{CONSTANT "{'release':0}\n{'retain':0}\n",
                "t:4: a released tensor cannot be retained"},
        Mistake{CONSTANT "{'release':0}\n{'op':'f','ns':1,'in':[0]}\n",
                "t:4: op 'f' uses a released tensor"},
        Mistake{"{'constant':0,'storage':0,'bytes':-8}\n", "t:2: a storage cannot have a negative"},
        Mistake{"{'constant':0,'storage':0,'bytes':1125899906842625}\n", "t:2: a storage of "},
        Mistake{"{'constant':0,'storage':0}\n", "t:2: \"bytes\" is missing"},
        Mistake{"{'constant':-1,'storage':0,'bytes':1}\n", "t:2: the number of a tensor cannot"},
        Mistake{"{'constant':1,'storage':-1,'bytes':1}\n", "t:2: the number of a storage cannot"},
        Mistake{CONSTANT "{'constant':0,'storage':1,'bytes':1}\n", "t:3: tensor 0 exists already"},
        Mistake{CONSTANT "{'constant':1,'storage':0,'bytes':1}\n", "t:3: storage 0 exists already"},
        Mistake{"{'op':'f'}\n", "t:2: \"ns\" is missing"},
        Mistake{"{'op':1,'ns':1}\n", "t:2: \"op\" must be a string"},
        Mistake{"{'op':'f','ns':-1}\n", "t:2: an op cannot have a negative cost"},
        Mistake{"{'op':'f','ns':1,'in':7}\n", "t:2: a value has the wrong type"},
        Mistake{"{'op':'f','ns':1,'in':[7]}\n", "t:2: tensor 7 does not exist"},
        Mistake{"{'op':'f','ns':1,'phase':'x\\u001b[2Jy'}\n", "t:2: \"phase\" is 'x\\x1b[2Jy'"},
        Mistake{"{'op':'f','ns':1,'scratch':-1}\n", "t:2: scratch memory cannot have a neg"},
        Mistake{"{'op':'f','ns':1,'recomputable':1}\n",
                "t:2: \"recomputable\" must be true or false"},
        Mistake{CONSTANT "{'op':'f','ns':1,'in':[0],'mutates':[1]}\n",
                "t:3: op 'f' mutates input 1 but has 1 inputs"},
        Mistake{CONSTANT "{'op':'f','ns':1,'in':[0],'mutates':[-1]}\n",
                "t:3: \"view_of\" and \"mut"},
        Mistake{CONSTANT "{'op':'f','ns':1,'in':[0],'out':[{'tensor':1,'view_of':-1}]}\n",
                "t:3: \"view_of\" and \"mutates\" must be places"},
        Mistake{CONSTANT "{'op':'f','ns':1,'in':[0],'out':[{'tensor':1,'view_of':1}]}\n",
                "t:3: op 'f' returns a view of input 1 but has 1 inputs"},
        Mistake{CONSTANT
                "{'op':'f','ns':1,'in':[0],'out':[{'tensor':1,'view_of':0,'storage':9}]}\n",
                "t:3: storage 9 is not that of the viewed tensor"},
        Mistake{"{'op':'f','ns':1,'out':[{'tensor':1,'storage':1,'bytes':1},"
                "{'tensor':1,'storage':2,'bytes':1}]}\n",
                "t:2: tensor 1 exists already"},
        Mistake{"{'op':'f','ns':1,'out':[{'tensor':1,'storage':1,'bytes':1},"
                "{'tensor':2,'storage':1,'bytes':1}]}\n",
                "t:2: storage 1 exists already"},
        Mistake{CONSTANT "{'op':'f','ns':1,'in':[0],'args':[{'in':1}]}\n",
                "t:3: op 'f' has an argument at input 1 but 1 inputs"},
        Mistake{"{'op':'f','ns':1,'args':[{'layout':3}]}\n", "t:2: layout 3 does not exist"},
        Mistake{"{'op':'f','ns':1,'args':[{'layout':3,'dtype':'f'},{'layout':3,'dtype':'g'}]}\n",
                "t:2: layout 3 exists already"},
        Mistake{"{'op':'f','ns':1,'args':[{'dtype':'f','shape':[-1]}]}\n",
                "t:2: shape, strides and offset cannot be negative"},
        Mistake{"{'op':'f','ns':1,'args':[3]}\n", "t:2: a value has the wrong type"},
        Mistake{"{'op':'f','ns':1,'settings':{'stride':2}}\n", "t:2: a value has the wrong type"},
        Mistake{"{'constant':0,'storage':0,'bytes':1,'shape':[1]}\n", "t:2: a \"shape\" needs a"},
        Mistake{"{'constant':0,'storage':0,'bytes':1,'dtype':'f','shape':[1],'strides':[]}\n",
                "t:2: \"strides\" and \"shape\" differ in length"},
        Mistake{"{'constant':0,'storage':0,'bytes':1,'dtype':'f',"
                "'shape':[9223372036854775807,3,3]}\n",
                "t:2: \"shape\" has more elements"},
        Mistake{"{'constant':0,'storage':0,'bytes':1,'dtype':'f','shape':[-1]}\n",
                "t:2: shape, strides and offset cannot be negative"}));
#undef CONSTANT

TEST(WeirFormat, SaysWhenItIsTooOld) {
  EXPECT_EQ(error_of(json("{'weir_trace':2,'views':'keep'}\n")),
            "t:1: the trace has format version 2, this program reads version 1; use a newer one");
}

TEST(WeirFormat, NeedsAWholeHeader) {
  EXPECT_THAT(error_of(json("{'weir_trace':1}\n")), StartsWith("t:1: \"views\" is missing"));
  EXPECT_THAT(error_of(json("{'weir_trace':1,'views':'lose'}\n")),
              StartsWith("t:1: \"views\" is 'lose'"));
  EXPECT_THAT(error_of(json("{'weir_trace':1,'vie")), StartsWith("t:1: the trace is cut off"));
  EXPECT_THAT(error_of(json("{'weir_trace':1,'views':'keep','start':-1}\n")), StartsWith("t:1: "));
  EXPECT_THAT(error_of(json("{'weir_trace':1,'views':'keep','move_ns':-1}\n")),
              StartsWith("t:1: "));
}

TEST(WeirFormat, RefusesInPlaceOpsWhereViewsAreRerun) {
  EXPECT_THAT(
      error_of(json("{'weir_trace':1,'views':'rerun'}\n"
                    "{'constant':0,'storage':0,'bytes':8}\n"
                    "{'op':'f_','ns':1,'in':[0],'mutates':[0]}\n")),
      StartsWith("t:3: op 'f_' mutates an input, but a trace whose views are re-run cannot"));
}

TEST(WeirFormat, IsReadableUpToWhereItWasCut) {
  std::string text = written(training_step(1));
  for (std::size_t bytes = kHeader.size() + 30; bytes < text.size(); bytes += 7) {
    std::string_view part = std::string_view(text).substr(0, bytes);
    Readable readable = read_what_is_readable(std::span<const char>(part), "t");
    EXPECT_THAT(readable.error, HasSubstr("cut off"));
    EXPECT_EQ(error_of(part), readable.error);
    EXPECT_EQ(error_of(written(readable.trace)), "");
  }
  EXPECT_EQ(read_what_is_readable(std::span<const char>(text), "t").error, "");
}

}  // namespace
}  // namespace weir::trace
