#include "trace/checkmate_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trace/info.h"
#include "trace/reader.h"
#include "trace/testing.h"

namespace weir::trace {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string node(int id, const std::string& more = "'cost_cpu':5,'cost_ram':8,'backward':false") {
  return "{'id':" + std::to_string(id) + ",'name':'n" + std::to_string(id) + "'," + more + "}";
}
std::string link(int source, int target) {
  return "{'source':" + std::to_string(source) + ",'target':" + std::to_string(target) + "}";
}
std::string graph(const std::string& nodes, const std::string& links, const char* key = "links") {
  return test::json("{'directed':true,'nodes':[" + nodes + "],'" + key + "':[" + links + "]}");
}

std::string events_of(const Trace& trace) {
  std::string text;
  for (const TraceEvent& event : trace.events)
    text += (event.kind == EventKind::Op ? "op" : "-") + std::to_string(event.item) + " ";
  return text;
}

TEST(CheckmateGraph, RunsNodesByIdAndReleasesAfterTheLastUse) {
  Trace trace = test::read(graph(node(0) + "," + node(1) + "," + node(2) + "," + node(3),
                                 link(1, 2) + "," + link(0, 2) + "," + link(0, 1)));
  EXPECT_EQ(events_of(trace), "op0 op1 op2 -0 -1 -2 op3 -3 ");
  EXPECT_THAT(trace.inputs_of(trace.ops[2]), ::testing::ElementsAre(TensorId{0}, TensorId{1}));
  EXPECT_EQ(trace.ops[0].cost, Nanos{5});
  EXPECT_EQ(trace.storages[0].size, Bytes{8});
}

TEST(CheckmateGraph, AcceptsEdgesForLinksAndDoubledOnes) {
  Trace trace = test::read(graph(node(0) + "," + node(1), link(0, 1) + "," + link(0, 1), "edges"));
  EXPECT_EQ(trace.inputs.size(), 1u);
}

TEST(CheckmateGraph, RunsInputsFirstWhenIdsDoNot) {
  Trace trace = test::read(graph(node(1) + "," + node(2) + "," + node(7), link(7, 1)));
  EXPECT_EQ(trace.names[trace.ops[0].name], "n2");
  EXPECT_EQ(trace.names[trace.ops[1].name], "n7");
  EXPECT_EQ(trace.names[trace.ops[2].name], "n1");
}

TEST(CheckmateGraph, RoundsCosts) {
  Trace trace = test::read(graph(node(0, "'cost_cpu':2.5,'cost_ram':8.0,'backward':true"), ""));
  EXPECT_EQ(trace.ops[0].cost, Nanos{3});
  EXPECT_EQ(trace.ops[0].phase, Phase::Backward);
}

TEST(CheckmateGraph, SaysWhatIsWrong) {
  auto error = [](const std::string& text) { return test::error_of(text, "g.json"); };
  std::string two = node(0) + "," + node(1);
  EXPECT_EQ(error(graph(two, link(0, 1) + "," + link(1, 0))),
            "g.json:1: the links form a cycle; a computation graph has none");
  EXPECT_THAT(error(graph(two, link(0, 5))), StartsWith("g.json:1: a link names node 5, which"));
  EXPECT_THAT(error(graph(two, link(1, 1))), StartsWith("g.json:1: node 1 is linked to itself"));
  EXPECT_THAT(error(graph(node(3) + "," + node(3), "")), HasSubstr("node 3 is there twice"));
  EXPECT_THAT(error(graph("{'name':'a'}", "")), HasSubstr("a node has no 'id'"));
  EXPECT_THAT(error(graph(node(0, "'cost_ram':1,'backward':true"), "")),
              HasSubstr("node 0 has no 'cost_cpu'"));
  EXPECT_THAT(error(graph(node(0, "'cost_cpu':1,'cost_ram':1"), "")), HasSubstr("no 'backward'"));
  EXPECT_THAT(error(graph(node(0, "'cost_cpu':-1,'cost_ram':1,'backward':true"), "")),
              HasSubstr("node 0 has a 'cost_cpu' outside 0 to 2^50"));
  EXPECT_THAT(error(graph(node(0, "'cost_cpu':1,'cost_ram':1e300,'backward':true"), "")),
              HasSubstr("node 0 has a 'cost_ram' outside 0 to 2^50"));
  EXPECT_THAT(error(graph("7", "")), HasSubstr("a node is not an object"));
  EXPECT_THAT(error(test::json("{'nodes':{},'links':[]}")),
              HasSubstr("the graph has a 'nodes' that is not a list"));
  EXPECT_THAT(error(test::json("{'nodes':[]}")), HasSubstr("the graph has no 'edges'"));
  EXPECT_THAT(error(test::json("{'nodes':\n[")),
              StartsWith("g.json:1: the graph is no whole JSON object"));
  EXPECT_THAT(error(test::json("['nodes']")), HasSubstr("the file is not an object"));
}

struct Published {
  const char* name;
  std::size_t ops;
  std::int64_t cost, peak;
};

void PrintTo(const Published& graph, std::ostream* out) { *out << graph.name; }

class PublishedGraphs : public ::testing::TestWithParam<Published> {};

TEST_P(PublishedGraphs, HaveTheirKnownPeaks) {
  auto file = test::data_file(std::string("checkmate-graphs/") + GetParam().name + ".json");
  if (!file) GTEST_SKIP() << GetParam().name << ".json is not there; set WEIR_DATA";
  Trace trace = read_trace(*file);
  EXPECT_EQ(trace.ops.size(), GetParam().ops);
  EXPECT_EQ(base_cost(trace).n, GetParam().cost);
  EXPECT_EQ(liveness_peak(trace).n, GetParam().peak);
}

INSTANTIATE_TEST_SUITE_P(All, PublishedGraphs,
                         ::testing::Values(Published{"vgg16-256", 45, 15500, 15825108992},
                                           Published{"unet-32", 71, 31005, 20959461376},
                                           Published{"mobilenet-512", 185, 162080, 34701056000}));

}  // namespace
}  // namespace weir::trace
