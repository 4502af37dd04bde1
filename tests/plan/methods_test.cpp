// Every method of the table: what it calls a schedule is one, and none beats the bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden/table.h"
#include "plan/checkpoints.h"
#include "plan/methods.h"
#include "plan/random_problem.h"
#include "plan/verify.h"
#include "trace/generate.h"
#include "trace/graph_program.h"
#include "trace/reader.h"
#include "weir/errors.h"

namespace weir::plan::test {
namespace {

using testing::ElementsAre;

void expect_sound(const Problem& problem, Bytes budget, const MethodEntry& method,
                  const Answer& answer, Nanos bound) {
  if (!answer.plan) return;
  const std::string where = std::string(method.name) + ", " + problem.source;
  const Verdict verdict = verify(problem, answer.plan->schedule);
  EXPECT_EQ(verdict.violation, std::nullopt) << where;
  EXPECT_EQ(verdict.cost, answer.plan->cost) << where;
  EXPECT_EQ(verdict.peak, answer.plan->peak) << where;
  EXPECT_LE(verdict.peak, budget) << where;
  EXPECT_GE(answer.plan->cost, bound) << where;
  // The optimum, unless it is of fewer schedules.
  EXPECT_LE(answer.bound, method.limits_runs ? answer.plan->cost : bound)
      << where << ": no method may claim a bound above the optimum";
}

TEST(Methods, AreSoundOnRandomTraces) {
  std::size_t plans = 0;
  for (std::uint64_t seed = 0; seed < seeds(150); ++seed) {
    for (const auto make : {random_graph, random_log, random_training}) {
      const Problem problem = problem_of(make(seed));
      const Bytes floor = floor_of(problem).budget;
      const Bytes budget{(floor.n + problem.peak.n) / 2};
      const Answer best = find_method("milp").plan(problem, budget, {.threads = 1});
      if (!best.plan) continue;
      for (const MethodEntry& method : methods()) {
        if (method.plan == nullptr) continue;
        const Answer answer = method.plan(problem, budget, {.threads = 1});
        expect_sound(problem, budget, method, answer, best.plan->cost);
        plans += answer.plan ? 1u : 0u;
      }
    }
  }
  EXPECT_GT(plans, seeds(1500));
}

TEST(Methods, RunNothingAgainWhenAllFits) {
  const Problem problem = problem_of(trace::layered_dag(4, 3, 1));
  for (const char* name : {"milp", "intervals", "lp", "keep_all"}) {
    const Answer answer = find_method(name).plan(problem, problem.peak, {.threads = 1});
    EXPECT_EQ(answer.outcome, Outcome::Optimal) << name;
    ASSERT_TRUE(answer.plan) << name;
    EXPECT_EQ(answer.plan->cost, problem.base_cost) << name;
  }
}

TEST(Methods, ReverseAChainWithFewCheckpoints) {
  const Problem problem = problem_of(trace::linear_chain(64));
  const auto cost = [&](const char* method, std::int64_t budget) {
    const Answer answer = find_method(method).plan(problem, {budget}, {.threads = 1});
    return answer.plan ? answer.plan->cost.n : -1;
  };
  const std::int64_t base = problem.base_cost.n;
  // One more forward, but for its 8 checkpoints and the last two, which nothing reads.
  EXPECT_EQ(cost("chen_sqrt", 20), base + 54);
  EXPECT_EQ(cost("chen_sqrt", 8), -1);
  EXPECT_GT(cost("griewank", 8), base + 64);  // several more, and little memory
  EXPECT_LT(cost("griewank", 8), base + 64 * 4);
}

TEST(Methods, FindThePointsWhereANetworkIsAChain) {
  // 0 -> 1 -> {2, 3} -> 4 -> 5, and all of it read backwards.
  const std::vector<trace::GraphNode> nodes{
      {"0", Phase::Forward, {1}, {1}, {}},     {"1", Phase::Forward, {1}, {1}, {0}},
      {"2", Phase::Forward, {1}, {1}, {1}},    {"3", Phase::Forward, {1}, {1}, {1}},
      {"4", Phase::Forward, {1}, {1}, {2, 3}}, {"5", Phase::Forward, {1}, {1}, {4}},
      {"6", Phase::Backward, {1}, {1}, {0, 5}}};
  const std::vector<std::uint32_t> order{0, 1, 2, 3, 4, 5, 6};
  const Problem problem = problem_of(trace::program_of(nodes, order, ViewRule::Rerun, "diamond"));
  EXPECT_THAT(articulation_points(problem), ElementsAre(1, 4));
  EXPECT_THAT(linear_candidates(problem), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Methods, AreNamedByTheTableOnly) {
  EXPECT_EQ(find_method("milp").name, "milp");
  EXPECT_THROW((void)find_method("best"), BadInput);
}

// Against the proven optima of optimum_test.
TEST(Methods, AreSoundOnUNet) {
  const auto file = golden::data_file("checkmate-graphs/unet-32.json");
  if (!file) GTEST_SKIP() << golden::kNoData;
  const Problem problem = problem_of(trace::read_trace(*file));
  const Bytes budget{problem.peak.n * 6 / 10};
  const Nanos optimum{problem.base_cost.n + 1380};
  std::size_t plans = 0;
  for (const MethodEntry& method : methods()) {
    if (method.name == "milp" || method.needs_tier || method.plan == nullptr) continue;
    const Answer answer = method.plan(problem, budget, {.threads = 1});
    expect_sound(problem, budget, method, answer, optimum);
    plans += answer.plan ? 1u : 0u;
  }
  EXPECT_EQ(plans, 8u);  // intervals, fast, gaps, lp, greedy, chen_sqrt, chen_greedy, griewank
}

}  // namespace
}  // namespace weir::plan::test
