// The planner for big steps with a tier whose copies run beside ops.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "plan/answer.h"
#include "plan/fast.h"
#include "plan/random_problem.h"
#include "plan/verify.h"
#include "trace/generate.h"

namespace weir::plan::test {
namespace {

using Make = Trace (*)(std::uint64_t seed);

Trace larger_training(std::uint64_t seed) {
  return trace::training_step(
      seed, {.steps = 2, .ops = 20, .parameters = 3, .most_live = 9, .most_bytes = {60}});
}
Trace larger_log(std::uint64_t seed) {
  return trace::random_log_trace(
      seed, {.ops = 60, .constants = 4, .most_live = 12, .most_bytes = {60}, .most_cost = {80}});
}

constexpr Make kMakes[] = {random_graph, random_log, random_training, larger_training, larger_log};
constexpr FastOptions kShort{.work = 2'000'000};

TierSpec tier_for(const Problem& problem, std::uint64_t seed) {
  base::Rng rng{seed};
  const auto lane = [&] {
    return Lane{{static_cast<std::int64_t>(rng.below(3))},
                static_cast<double>(1 + rng.below(8)) / 2};
  };
  const Lane write = lane(), read = lane();
  return {{write, read}, {problem.peak.n * static_cast<std::int64_t>(rng.below(5)) / 4}};
}

std::string name_of(const Problem& problem, std::uint64_t seed) {
  return problem.source + ", seed " + std::to_string(seed);
}

// All storages that are there when the step begins.
std::vector<StorageId> constants_of(const Problem& problem) {
  std::vector<StorageId> found;
  for (const Value& value : problem.values)
    if (value.maker == kNobody && value.appears == 0) found.push_back(value.storage);
  return found;
}

struct Tally {
  int planned = 0, better = 0, copies = 0, waits = 0, begin_away = 0;

  void count(const Problem& problem, Bytes budget, const std::string& where) {
    Problem without = problem;
    without.tier.reset();
    const std::optional<Stays> plain = plan_fast(without, budget, kShort);
    const std::optional<Stays> stays = plan_fast(problem, budget, kShort);
    if (plain) {
      ASSERT_TRUE(stays) << where;
      EXPECT_LE(stays->cost(), plain->cost()) << where;
    }
    if (!stays) return;
    const Plan plan = stays->plan(budget);
    const Verdict verdict = verify(problem, plan.schedule);
    ASSERT_EQ(verdict.violation, std::nullopt) << where << ", move " << verdict.at;
    EXPECT_EQ(verdict.cost, plan.cost) << where;
    EXPECT_EQ(plan.cost, stays->cost()) << where;
    EXPECT_EQ(verdict.peak, plan.peak) << where;
    EXPECT_LE(plan.tier_peak, problem.tier->capacity) << where;
    ++planned;
    better += !plain || stays->cost() < plain->cost() ? 1 : 0;
    waits += verdict.waited > Nanos{} ? 1 : 0;
    copies += static_cast<int>(stays->copied().size());
    begin_away +=
        !plan.schedule.moves.empty() && plan.schedule.moves[0].move == Move::Evict ? 1 : 0;
  }
};

TEST(FastWithTier, SaysWhatIsVerified) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    for (const Make make : kMakes) {
      Problem problem = problem_of(make(seed));
      if (seed % 5 == 0) problem = rest_of(std::move(problem), seed);
      problem.tier = tier_for(problem, seed);
      tally.count(problem, budget_for(problem, seed), name_of(problem, seed));
    }
  EXPECT_GT(tally.planned, 750);
  EXPECT_GT(tally.better, 200);
  EXPECT_GT(tally.copies, 800);
  EXPECT_GT(tally.waits, 100);
}

TEST(FastWithTier, BeginsWhereItEndsIfTheStepRepeats) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    for (const Make make : kMakes) {
      Problem problem = problem_of(make(seed));
      problem.tier = tier_for(problem, seed);
      problem.repeats = constants_of(problem);
      tally.count(problem, budget_for(problem, seed), name_of(problem, seed));
    }
  EXPECT_GT(tally.planned, 700);
}

TEST(FastWithTier, IsWhatItIsWithoutIfNothingCanBeCopied) {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const Make make : kMakes) {
      Problem problem = problem_of(make(seed));
      const Bytes budget = budget_for(problem, seed);
      const std::optional<Stays> plain = plan_fast(problem, budget, kShort);
      const Lane still{{}, 0}, lane{{}, 1};
      for (const TierSpec& tier : {TierSpec{{still, still}, kMostBytes},
                                   {{lane, still}, kMostBytes},
                                   {{still, lane}, kMostBytes},
                                   {{lane, lane}, {}}}) {
        problem.tier = tier;
        const std::optional<Stays> stays = plan_fast(problem, budget, kShort);
        ASSERT_EQ(stays.has_value(), plain.has_value()) << name_of(problem, seed);
        if (plain) EXPECT_EQ(stays->plan(budget).schedule, plain->plan(budget).schedule);
      }
    }
}

}  // namespace
}  // namespace weir::plan::test
