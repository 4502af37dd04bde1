// The planner for big steps: its incremental figures against the plain ones, and its schedules
// against the best there are.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "golden/table.h"
#include "plan/answer.h"
#include "plan/fast.h"
#include "plan/naive.h"
#include "plan/random_problem.h"
#include "plan/verify.h"
#include "sim/replay.h"
#include "trace/generate.h"
#include "trace/reader.h"

namespace weir::plan::test {
namespace {

using Make = Trace (*)(std::uint64_t seed);
constexpr Make kMakes[] = {random_graph, random_log, random_training};

Trace larger_training(std::uint64_t seed) {
  return trace::training_step(
      seed, {.steps = 2, .ops = 20, .parameters = 3, .most_live = 9, .most_bytes = {60}});
}
Trace larger_log(std::uint64_t seed) {
  return trace::random_log_trace(
      seed, {.ops = 60, .constants = 4, .most_live = 12, .most_bytes = {60}, .most_cost = {80}});
}

// Stage by stage, from nothing.
void expect_same_as_retention(const Stays& stays, const std::string& where) {
  const Problem& problem = stays.problem();
  const std::optional<Plan> plain = plan_of(problem, stays.retention(), {});
  ASSERT_EQ(plain.has_value(), stays.sound()) << where;
  if (!plain) return;
  EXPECT_EQ(plain->cost, stays.cost()) << where;
  const Plan plan = stays.plan(kMostBytes);
  EXPECT_EQ(plan.cost, stays.cost()) << where;
  for (Stage stage = problem.start.first; stage <= problem.end(); ++stage)
    EXPECT_LE(plan.stage_peaks[stage],
              std::max(stays.peak(stage), plan.stage_peaks[problem.start.first]))
        << where << ", stage " << stage;
  const Verdict verdict = verify(problem, plan.schedule);
  EXPECT_EQ(verdict.violation, std::nullopt) << where;
  EXPECT_EQ(verdict.cost, plan.cost) << where;
  EXPECT_EQ(verdict.peak, plan.peak) << where;
}

void change_at_random(Stays& stays, base::Rng& rng) {
  const Problem& problem = stays.problem();
  const ValueId value{static_cast<std::uint32_t>(rng.below(problem.values.size()))};
  const auto first = problem.start.first;
  const auto stage = static_cast<Stage>(first + rng.below(problem.end() + 1 - first));
  if (stays.keeps(stage, value)) {
    const std::optional<Span> gap = stays.gap_at(stage, value);
    if (!gap) return;
    const Stays::Added added = stays.added_by_drop(value, *gap, kMostNanos);
    const Stays::Effect effect = stays.effect_of_drop(value, *gap);
    if (!added.possible || !effect.lacking.empty()) return;
    const Nanos before = stays.cost();
    stays.drop(value, *gap);
    EXPECT_EQ(stays.peak(gap->last), effect.peak);
    EXPECT_LE(stays.cost(), before + added.cost);  // less, if it was made again for this only
    for (std::uint32_t op : added.ops)
      EXPECT_TRUE(std::ranges::binary_search(stays.reruns(gap->last), op));
  } else if (problem[value].view_of == kNoValue && stage <= problem[value].changed_by) {
    const Stage there = stays.last_there(stage, value);
    if (there != kNobody) stays.keep(value, {there + 1, stage});
  }
}

TEST(Stays, SayWhatARetentionSays) {
  std::size_t dearer = 0;
  for (std::uint64_t seed = 0; seed < seeds(300); ++seed) {
    for (const Make make : {larger_training, larger_log, random_graph}) {
      Problem problem = problem_of(make(seed));
      if (seed % 3 == 0) problem = rest_of(std::move(problem), seed);
      Stays stays{problem};
      const std::string where = problem.source + ", seed " + std::to_string(seed);
      expect_same_as_retention(stays, where);
      base::Rng rng{seed};
      const Nanos begin = stays.cost();
      const std::size_t mark = stays.mark();
      for (int i = 0; i < 30; ++i) change_at_random(stays, rng);
      expect_same_as_retention(stays, where);
      dearer += stays.cost() > begin ? 1u : 0u;
      stays.undo(mark);
      EXPECT_EQ(stays.cost(), begin) << where;
      expect_same_as_retention(stays, where);
    }
  }
  EXPECT_GT(dearer, seeds(300));
}

struct Tally {
  int feasible = 0, found = 0, best = 0;

  void count(const Problem& problem, std::uint64_t seed) {
    if (problem.values.size() > 18) return;
    const Bytes budget = budget_for(problem, seed);
    const std::optional<Nanos> optimum = naive_optimum(problem, budget, Order::Staged);
    const std::optional<Stays> stays = plan_fast(problem, budget);
    if (stays) {
      const Plan plan = stays->plan(budget);
      const Verdict verdict = verify(problem, plan.schedule);
      ASSERT_EQ(verdict.violation, std::nullopt) << problem.source << ", seed " << seed;
      ASSERT_EQ(verdict.cost, plan.cost) << problem.source;
      ASSERT_TRUE(optimum) << problem.source;
      ASSERT_GE(plan.cost, *optimum) << problem.source;
      ++found;
      best += plan.cost == *optimum ? 1 : 0;
    }
    feasible += optimum ? 1 : 0;
  }
};

TEST(Fast, IsCloseToTheBestOnSmallTraces) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < seeds(700); ++seed)
    for (const Make make : kMakes) tally.count(problem_of(make(seed)), seed);
  EXPECT_GT(tally.found, tally.feasible * 97 / 100);
  EXPECT_GT(tally.best, tally.feasible * 96 / 100);
}

TEST(Fast, IsCloseToTheBestForTheRestOfAStep) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < seeds(700); ++seed)
    for (const Make make : kMakes) tally.count(rest_of(problem_of(make(seed)), seed), seed);
  EXPECT_GT(tally.found, tally.feasible * 97 / 100);
  EXPECT_GT(tally.best, tally.feasible * 96 / 100);
}

TEST(Fast, FindsTheOptimaOfUNet) {
  const auto file = golden::data_file("checkmate-graphs/unet-32.json");
  if (!file) GTEST_SKIP() << golden::kNoData;
  const Problem problem = problem_of(trace::read_trace(*file));
  const std::pair<int, double> optima[] = {{9, 1.0113}, {8, 1.0198}, {7, 1.0297},
                                           {6, 1.0445}, {5, 1.0697}, {4, 1.1311}};
  for (const auto& [tenths, optimum] : optima) {
    const Bytes budget{problem.peak.n * tenths / 10};
    const std::optional<Stays> stays = plan_fast(problem, budget);
    ASSERT_TRUE(stays) << tenths;
    const Plan plan = stays->plan(budget);
    EXPECT_EQ(verify(problem, plan.schedule).violation, std::nullopt) << tenths;
    EXPECT_GT(plan.slowdown(problem), optimum - 5e-5) << tenths;
    EXPECT_LT(plan.slowdown(problem), optimum + 5e-5) << tenths;
  }
}

struct Case {
  const char* name;
  std::vector<int> tenths;
};

TEST(Fast, CostsNoMoreThanAnyPolicy) {
#ifdef WEIR_CHECK_FULL
  GTEST_SKIP() << "takes minutes without optimisation; the release build has it";
#endif
  const Case cases[] = {{"checkmate-graphs/unet-32.json", {6, 4}},
                        {"checkmate-graphs/mobilenet-512.json", {5, 2}},
                        {"dtr-logs/resnet32-56.log", {2}},
                        {"dtr-logs/tv_densenet121-84.log", {9, 7, 2}}};
  for (const auto& [name, all_tenths] : cases) {
    const auto file = golden::data_file(name);
    if (!file) GTEST_SKIP() << golden::kNoData;
    const Trace trace = trace::read_trace(*file);
    const Problem problem = problem_of(trace);
    for (const int tenths : all_tenths) {
      const Bytes budget{problem.peak.n * tenths / 10};
      const std::optional<Stays> stays = plan_fast(problem, budget);
      ASSERT_TRUE(stays) << name << ", " << tenths;
      for (const char* policy :
           {"h_dtr", "h_dtr_eq", "h_dtr_local", "msps", "lru", "size", "foresight"}) {
        const sim::ReplayResult online =
            sim::replay(trace, find_policy(policy), {.budget = budget});
        if (online.status != sim::Status::Ok) continue;
        EXPECT_LE(stays->cost(), online.clock) << name << ", " << tenths << ", " << policy;
      }
    }
  }
}

TEST(Fast, GivesUpWhenItsWorkIsDone) {
  const auto file = golden::data_file("dtr-logs/tv_densenet121-84.log");
  if (!file) GTEST_SKIP() << golden::kNoData;
  const Problem problem = problem_of(trace::read_trace(*file));
  const Bytes budget{problem.peak.n / 5};
  EXPECT_FALSE(plan_fast(problem, budget, {.work = 100'000}));
  EXPECT_TRUE(plan_fast(problem, budget, {.work = 50'000'000}));
}

TEST(Fast, CostsNoMoreWithALargerBudget) {
  for (const char* name :
       {"checkmate-graphs/unet-32.json", "checkmate-graphs/mobilenet-512.json"}) {
    const auto file = golden::data_file(name);
    if (!file) GTEST_SKIP() << golden::kNoData;
    const Problem problem = problem_of(trace::read_trace(*file));
    const Bytes floor = floor_of(problem).budget;
    Frontier frontier{problem, {.work = 10'000'000}};
    Nanos last = kMostNanos;
    std::size_t found = 0;
    for (std::int64_t i = 0; i <= 200; ++i) {
      const Bytes budget{floor.n + i * (problem.peak.n - floor.n) / 200};
      const Plan* plan = frontier.plan(budget);
      if (!plan) continue;
      ++found;
      EXPECT_LE(plan->peak, budget) << name << ", " << i;
      EXPECT_LE(plan->cost, last) << name << ", " << i;
      last = plan->cost;
    }
    EXPECT_GT(found, 190u) << name;
    EXPECT_EQ(last, problem.base_cost) << name;
  }
}

}  // namespace
}  // namespace weir::plan::test
