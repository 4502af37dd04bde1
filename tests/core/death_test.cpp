// What nothing can need dies at once, and not only when its step ends.
#include <gmock/gmock.h>

#include "core/program.h"

namespace weir::core {
namespace {

using testing::ElementsAre;

TEST(Death, ComesWithTheLastReference) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.constant(10_B), b = program.op({}, 10_B);
  program.release(a);
  program.release(b);
  EXPECT_TRUE(program.dead(a));
  EXPECT_TRUE(program.dead(b));
  EXPECT_EQ(program.manager.ledger().used(), 0_B);
}

TEST(Death, WaitsForWhatIsMadeFromIt) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B), c = program.op({b}, 10_B);
  program.release(a);
  program.release(b);
  EXPECT_TRUE(program.evicted(a));
  EXPECT_TRUE(program.evicted(b));
  program.release(c);
  EXPECT_TRUE(program.dead(a));
  EXPECT_TRUE(program.dead(b));
  EXPECT_TRUE(program.dead(c));
}

TEST(Death, WaitsForThePin) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.constant(10_B);
  {
    const Pin pin = program.keep(a);
    program.release(a);
    EXPECT_TRUE(program.resident(a));
  }
  EXPECT_TRUE(program.dead(a));
}

TEST(Death, WaitsForTheOpThatMakesIt) {
  Program program{{.budget = 100_B}};
  Ticket ticket = program.begin({}, {{10_B}});
  const TensorId a{static_cast<std::uint32_t>(program.manager.graph().tensors() - 1)};
  program.release(a);
  program.launch({{10_B}}, 1_ns, ticket);
  program.manager.end(std::move(ticket));
  EXPECT_TRUE(program.dead(a));
}

TEST(Death, TellsWhichOpsWillNeverRunAgain) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B);
  const std::uint64_t first = program.maker(a), second = program.maker(b);
  program.release(a);
  EXPECT_THAT(program.forgot, ElementsAre());
  program.release(b);
  EXPECT_THAT(program.forgot, ElementsAre(second, first));
}

TEST(Death, LeavesTheStepsEndToDtrsRules) {
  Program program{{.budget = 100_B, .views = ViewRule::Rerun}};
  const TensorId a = program.op({}, 10_B);
  program.release(a);
  EXPECT_TRUE(program.evicted(a));
  program.manager.end_step();
  EXPECT_TRUE(program.dead(a));
}

TEST(Retirement, TakesTheRecipesOfThoseThatAreThere) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.constant(10_B), b = program.op({a}, 10_B);
  program.release(a);
  EXPECT_TRUE(program.dead(a));
  EXPECT_TRUE(program.resident(b));
  EXPECT_FALSE(program.storage(b).has_recipe());
}

TEST(Retirement, TakesGhostsAlong) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.constant(10_B), ghost = program.op({a}, 10_B),
                 b = program.op({ghost}, 10_B);
  program.release(ghost);
  program.release(a);
  EXPECT_TRUE(program.dead(a));
  EXPECT_TRUE(program.dead(ghost));
  EXPECT_TRUE(program.resident(b));
}

TEST(Retirement, WaitsForAReaderThatIsAway) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.constant(10_B), b = program.op({a}, 10_B);
  program.evict(b);
  program.release(a);
  EXPECT_TRUE(program.resident(a));
  program.read({b});
  EXPECT_TRUE(program.dead(a));
  EXPECT_TRUE(program.resident(b));
}

TEST(Retirement, IsTriedAgainWhenTheOpThatReadItHasRun) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.constant(10_B);
  Ticket ticket = program.begin({a}, {{10_B}});
  program.restore(ticket);
  program.release(a);
  EXPECT_TRUE(program.resident(a));
  program.launch({{10_B}}, 1_ns, ticket);
  program.manager.end(std::move(ticket));
  EXPECT_TRUE(program.dead(a));
}

TEST(Age, TakesTheRecipesOfEarlierSteps) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B), away = program.op({}, 10_B);
  program.evict(away);
  program.manager.end_step();
  EXPECT_EQ(program.recipe_length(a), 1u);
  program.manager.end_step();
  EXPECT_EQ(program.recipe_length(a), 0u);
  EXPECT_EQ(program.recipe_length(away), 1u);
}

}  // namespace
}  // namespace weir::core
