// The planner for big steps with a tier whose copies run beside ops.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "plan/answer.h"
#include "plan/fast.h"
#include "plan/naive.h"
#include "plan/random_problem.h"
#include "plan/verify.h"
#include "trace/builder.h"
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

// Layers with a weight and a momentum each, which the optimizer changes in place.
Problem repeated_step(std::uint64_t seed) {
  base::Rng rng{seed};
  trace::TraceBuilder builder{ViewRule::Keep, "a repeated step"};
  const std::size_t layers = 3 + rng.below(4);
  const auto number = [&](std::uint64_t most) {
    return static_cast<std::int64_t>(1 + rng.below(most));
  };
  std::vector<TensorId> weights, momenta, activations{builder.constant({number(9)})};
  for (std::size_t i = 0; i < layers; ++i) {
    const Bytes size{number(30)};
    weights.push_back(builder.constant(size));
    momenta.push_back(builder.constant(size));
  }
  const auto run = [&](Phase phase, std::vector<TensorId> inputs, Bytes size) {
    const std::vector<trace::Output> outputs{{.size = size}};
    return builder.op(
        {.name = "op", .phase = phase, .cost = {number(40)}, .inputs = inputs, .outputs = outputs});
  };
  const auto change = [&](TensorId what, TensorId by) {
    const std::vector<TensorId> inputs{what, by};
    const std::vector<std::uint32_t> mutated{0};
    builder.op({.name = "change",
                .phase = Phase::Optimizer,
                .cost = {number(10)},
                .inputs = inputs,
                .mutated = mutated});
  };
  for (std::size_t i = 0; i < layers; ++i)
    activations.push_back(run(Phase::Forward, {activations.back(), weights[i]}, {number(20)}));
  TensorId gradient = activations.back();
  std::vector<TensorId> gradients(layers);
  for (std::size_t i = layers; i-- > 0;) {
    gradients[i] = run(Phase::Backward, {gradient, activations[i]}, {number(20)});
    gradient = run(Phase::Backward, {gradient, weights[i], activations[i + 1]}, {number(20)});
  }
  for (TensorId each : activations) builder.release(each);
  for (std::size_t i = 0; i < layers; ++i) {
    change(momenta[i], gradients[i]);
    change(weights[i], momenta[i]);
    builder.release(gradients[i]);
  }
  return problem_of(std::move(builder).finish());
}

TEST(FastWithTier, BeginsWhereItEndsIfTheStepRepeats) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Problem problem = repeated_step(seed);
    problem.tier = tier_for(problem, seed);
    problem.repeats = constants_of(problem);
    tally.count(problem, budget_for(problem, seed), name_of(problem, seed));
    for (const Make make : kMakes) {
      Problem other = problem_of(make(seed));
      other.tier = tier_for(other, seed);
      other.repeats = constants_of(other);
      tally.count(other, budget_for(other, seed), name_of(other, seed));
    }
  }
  EXPECT_GT(tally.planned, 850);
  EXPECT_GT(tally.begin_away, 30);
}

// Weights and momenta alone are more than the budget.
TEST(FastWithTier, RunsAStepWhoseStateDoesNotFit) {
  int planned = 0, too_small = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Problem problem = repeated_step(seed);
    problem.tier = TierSpec{{{{}, 1}, {{}, 1}}, problem.peak};
    problem.repeats = constants_of(problem);
    Bytes state;
    for (StorageId storage : *problem.repeats) state += problem.storages[index(storage)];
    const Bytes budget{std::max(state.n * 9 / 10, floor_of(problem).budget.n * 5 / 4)};
    if (budget >= state) continue;
    ++too_small;
    const std::optional<Stays> stays = plan_fast(problem, budget, kShort);
    if (!stays) continue;
    const Plan plan = stays->plan(budget);
    EXPECT_EQ(verify(problem, plan.schedule).violation, std::nullopt) << name_of(problem, seed);
    EXPECT_LE(plan.peak, budget);
    ++planned;
  }
  EXPECT_GT(too_small, 20);
  EXPECT_GT(planned, too_small * 2 / 5);
}

TEST(FastWithTier, CostsNoMoreWithALargerBudget) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Problem problem = problem_of(larger_training(seed));
    problem.tier = TierSpec{{{{1}, 2}, {{1}, 1}}, problem.peak};
    const Bytes floor = floor_of(problem).budget;
    Frontier frontier{problem, kShort};
    Nanos last = kMostNanos;
    for (std::int64_t i = 0; i <= 10; ++i) {
      const Plan* plan = frontier.plan({floor.n + i * (problem.peak.n - floor.n) / 10});
      if (!plan) continue;
      EXPECT_LE(plan->cost, last) << name_of(problem, seed) << ", " << i;
      last = plan->cost;
    }
    EXPECT_EQ(last, problem.base_cost) << name_of(problem, seed);
  }
}

// Not in each case, since the search does not try everything.
TEST(FastWithTier, CostsLessWithAFasterLink) {
  std::int64_t last = kMostNanos.n;
  int worse = 0, better = 0;
  for (const double speed : {0.01, 0.1, 1.0, 10.0}) {
    std::int64_t sum = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      Problem problem = repeated_step(seed);
      problem.tier = TierSpec{{{{}, speed}, {{}, speed}}, problem.peak};
      const Bytes budget{(problem.peak.n + floor_of(problem).budget.n) / 2};
      const std::optional<Stays> slow = plan_fast(problem, budget, kShort);
      problem.tier->link = {{{}, 2 * speed}, {{}, 2 * speed}};
      const std::optional<Stays> fast = plan_fast(problem, budget, kShort);
      if (!slow || !fast) continue;
      sum += slow->cost().n;
      better += fast->cost() < slow->cost() ? 1 : 0;
      worse += fast->cost() > slow->cost() ? 1 : 0;
    }
    EXPECT_LT(sum, last) << speed;
    last = sum;
  }
  EXPECT_GT(better, 20 * worse);
}

// Each is as good as any order of ops and any time of copies, or nearly.
TEST(FastWithTier, IsCloseToTheBestOfAnyOrderAndTime) {
  int feasible = 0, found = 0, best = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Problem problem = with_tier(problem_of(random_graph(seed)), seed);
    if (problem.values.size() > 5) continue;
    const Bytes budget = budget_for(problem, seed);
    const std::optional<Nanos> optimum = naive_optimum_beside_ops(problem, budget);
    const std::optional<Stays> stays = plan_fast(problem, budget, kShort);
    feasible += optimum ? 1 : 0;
    if (!stays) continue;
    ASSERT_TRUE(optimum) << name_of(problem, seed);
    EXPECT_GE(stays->cost(), *optimum) << name_of(problem, seed);
    ++found;
    best += stays->cost() == *optimum ? 1 : 0;
  }
  EXPECT_GT(found, feasible * 9 / 10);
  EXPECT_GT(best, feasible * 8 / 10);
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
        if (!plain) continue;
        EXPECT_EQ(stays->plan(budget).schedule, plain->plan(budget).schedule);
      }
    }
}

}  // namespace
}  // namespace weir::plan::test
