// What a relaxation has away is a place to begin: the cheapest gaps by all stages at once.
#include <gtest/gtest.h>

#include "plan/answer.h"
#include "plan/random_problem.h"
#include "plan/relaxation.h"

namespace weir::plan::test {
namespace {

// Each value is made by an op of its own, then much is taken for a moment, then all are read.
class AStep {
 public:
  ValueId make(Bytes size, Nanos cost) {
    const auto number = static_cast<std::uint32_t>(problem_.ops.size());
    problem_.values.push_back(
        {.storage = StorageId{number}, .size = size, .maker = number, .appears = number});
    problem_.storages.push_back(size);
    problem_.ops.push_back({.name = {}, .cost = cost, .outputs = {ValueId{number}}});
    return ValueId{number};
  }
  const Problem& take_and_read(Bytes scratch) {
    const auto last = static_cast<std::uint32_t>(problem_.ops.size()) + 1;
    problem_.ops.push_back({.name = {}, .cost = {}, .scratch = scratch});
    problem_.ops.push_back({.name = {}, .cost = {}});
    for (std::uint32_t i = 0; i < problem_.values.size(); ++i) {
      problem_.values[i].users = {last};
      problem_.values[i].last_remake = last;
      problem_.ops.back().inputs.push_back(ValueId{i});
    }
    for (const ProblemOp& op : problem_.ops) problem_.base_cost += op.cost;
    return problem_;
  }

 private:
  Problem problem_;
};

bool is_away(const Stays& stays, ValueId value) {
  const Stage stage = stays.problem().end() - 2;  // in which much is taken
  return !stays.keeps(stage, value);
}

TEST(Relaxation, HasTheCheapestAway) {
  AStep step;
  const ValueId large = step.make({10}, {5});
  const ValueId one = step.make({5}, {1}), other = step.make({5}, {1});
  Relaxation relaxation{step.take_and_read({20}), {30}};
  const Stays stays = relaxation.solve({5});
  EXPECT_FALSE(is_away(stays, large));
  EXPECT_TRUE(is_away(stays, one));
  EXPECT_TRUE(is_away(stays, other));
  EXPECT_EQ(stays.cost(), Nanos{9});
}

TEST(Relaxation, HasNothingAwayWhereThereIsRoom) {
  AStep step;
  const ValueId value = step.make({10}, {5});
  Relaxation relaxation{step.take_and_read({20}), {30}};
  EXPECT_FALSE(is_away(relaxation.solve({5}), value));
}

TEST(Relaxation, CountsWhatElseHasToRunAroundASchedule) {
  AStep step;
  const ValueId source = step.make({1}, {3});
  const ValueId made = step.make({10}, {2}), other = step.make({10}, {4});
  Problem problem = step.take_and_read({20});
  problem.ops[1].inputs = {source};
  problem.values[0].users = {1};  // and nobody else: it has gone when much is taken
  std::erase(problem.ops.back().inputs, source);
  Relaxation relaxation{problem, {30}};
  EXPECT_TRUE(is_away(relaxation.solve({5}), made));
  Stays everything{problem};
  relaxation.price(everything);
  const Stays stays = relaxation.solve({5});
  EXPECT_FALSE(is_away(stays, made));
  EXPECT_TRUE(is_away(stays, other));
}

TEST(Relaxation, LeavesWhatCanRun) {
  std::size_t away = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    for (const auto make : {random_graph, random_log, random_training}) {
      Problem problem = problem_of(make(seed));
      if (seed % 3 == 0) problem = rest_of(std::move(problem), seed);
      if (!Stays{problem}.sound()) continue;
      Relaxation relaxation{problem, floor_of(problem).budget};
      Stays stays = relaxation.solve(problem.base_cost);
      ASSERT_TRUE(stays.sound()) << problem.source << ", seed " << seed;
      relaxation.price(stays);
      ASSERT_TRUE(relaxation.solve(problem.base_cost).sound()) << problem.source << ", " << seed;
      if (stays.cost() > cost_without_budget(problem)) ++away;
    }
  EXPECT_GT(away, 200u);
}

}  // namespace
}  // namespace weir::plan::test
