// The best slowdowns there are for Checkmate's graphs, proven.
#include <gtest/gtest.h>

#include <string>

#include <fmt/format.h>

#include "base/units.h"
#include "golden/table.h"
#include "plan/milp.h"
#include "plan/verify.h"
#include "trace/info.h"
#include "trace/reader.h"

namespace weir::plan {
namespace {

struct Case {
  const char* graph;
  const char* ratio;
  const char* slowdown;  // to four digits
  double seconds;
};

class Optimum : public testing::TestWithParam<Case> {};

TEST_P(Optimum, IsProven) {
  const auto file =
      golden::data_file(std::string("checkmate-graphs/") + GetParam().graph + ".json");
  if (!file) GTEST_SKIP() << golden::kNoData;
  const Trace trace = trace::read_trace(*file);
  const Problem problem = problem_of(trace);
  ASSERT_EQ(problem.peak, trace::liveness_peak(trace));
  ASSERT_EQ(problem.base_cost, trace::base_cost(trace));
  const Bytes budget = base::parse_budget(GetParam().ratio).resolve(problem.peak);
  const Answer answer = solve_milp(problem, budget, {.seconds = GetParam().seconds, .threads = 2});
  ASSERT_TRUE(answer.plan);
  EXPECT_EQ(answer.outcome, Outcome::Optimal);
  EXPECT_EQ(answer.bound, answer.plan->cost);
  EXPECT_EQ(fmt::format("{:.4f}", answer.plan->slowdown(problem)), GetParam().slowdown);
  const Verdict verdict = verify(problem, answer.plan->schedule);
  EXPECT_EQ(verdict.violation, std::nullopt);
  EXPECT_EQ(verdict.cost, answer.plan->cost);
  EXPECT_EQ(verdict.peak, answer.plan->peak);
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return golden::plain(std::string(info.param.graph) + "_" + info.param.ratio);
}

INSTANTIATE_TEST_SUITE_P(
    Checkmate, Optimum,
    testing::Values(Case{"vgg16-256", "0.95x", "1.0077", 60},
                    Case{"vgg16-256", "0.9x", "1.0197", 60},
                    Case{"vgg16-256", "0.85x", "1.0197", 60},
                    Case{"vgg16-256", "0.84x", "1.0197", 60}, Case{"unet-32", "0.9x", "1.0113", 60},
                    Case{"unet-32", "0.8x", "1.0198", 60}, Case{"unet-32", "0.7x", "1.0297", 60},
                    Case{"unet-32", "0.6x", "1.0445", 60}, Case{"unet-32", "0.5x", "1.0697", 300}),
    name_of);

}  // namespace
}  // namespace weir::plan
