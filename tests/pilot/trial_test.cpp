#include "pilot/trial.h"

#include <gtest/gtest.h>

#include "steps.h"
#include "trace/info.h"

namespace weir::pilot {
namespace {

std::shared_ptr<const Guide> any_plan() {
  const Trace trace = training(std::vector<Step>(2));
  return std::make_shared<const Guide>(
      *Guide::make(logs_of(trace)[1], {trace::liveness_peak(trace)}));
}

// So many whole steps; what is to be followed after them.
std::shared_ptr<const Guide> follow(Trial& trial, const std::shared_ptr<const Guide>& plan,
                                    std::initializer_list<std::int64_t> steps) {
  std::shared_ptr<const Guide> next = plan;
  for (std::int64_t took : steps) next = trial.judge(plan, {took});
  return next;
}

TEST(Trial, KeepsAPlanThatIsFasterThanNone) {
  Trial trial{Nanos{100}};
  const auto plan = any_plan();
  EXPECT_EQ(follow(trial, plan, {90, 90, 90}), plan);
  EXPECT_TRUE(trial.over());
}

TEST(Trial, GivesUpAPlanThatIsSlowerThanNone) {
  Trial trial{Nanos{100}};
  EXPECT_EQ(follow(trial, any_plan(), {110, 110, 110}), nullptr);
}

TEST(Trial, DoesNotJudgeByOneStep) {
  Trial trial{Nanos{100}};
  const auto plan = any_plan();
  EXPECT_EQ(follow(trial, plan, {110, 110}), plan);
  EXPECT_FALSE(trial.over());
}

TEST(Trial, DoesNotCountTheFirstStepAndTakesTheFasterOfTheOthers) {
  Trial fast_first{Nanos{100}}, slow_first{Nanos{100}};
  const auto plan = any_plan();
  EXPECT_EQ(follow(fast_first, plan, {50, 110, 120}), nullptr);
  EXPECT_EQ(follow(slow_first, plan, {500, 110, 90}), plan);
}

TEST(Trial, GoesBackToTheFasterOfTwoPlans) {
  Trial trial{Nanos{100}};
  const auto first = any_plan(), second = any_plan();
  EXPECT_EQ(follow(trial, first, {80, 80, 80}), first);
  EXPECT_EQ(follow(trial, second, {90, 90, 90}), first);
  EXPECT_EQ(follow(trial, first, {85}), first);
}

TEST(Trial, TakesTheSecondPlanIfItIsFaster) {
  Trial trial{Nanos{100}};
  const auto first = any_plan(), second = any_plan();
  follow(trial, first, {80, 80, 80});
  EXPECT_EQ(follow(trial, second, {70, 70, 70}), second);
}

}  // namespace
}  // namespace weir::pilot
