// A byte is charged before it exists, and what cannot be met is said with numbers.
#include "core/program.h"

namespace weir::core {
namespace {

TEST(Budget, HoldsWhatTheProgramMakesWhileItFits) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.constant(40_B), b = program.op({a}, 60_B);
  EXPECT_EQ(program.manager.ledger().used(), 100_B);
  EXPECT_TRUE(program.resident(b));
  EXPECT_EQ(program.manager.counters().evictions, 0u);
}

TEST(Budget, IsNeverExceeded) {
  Program program{{.budget = 100_B}};
  TensorId last = program.constant(10_B);
  for (int i = 0; i < 20; ++i) last = program.op({last}, 30_B);
  EXPECT_LE(program.manager.ledger().peak(), 100_B);
  EXPECT_TRUE(program.resident(last));
  EXPECT_GT(program.manager.counters().evictions, 0u);
}

TEST(Budget, AsksThePolicyOnlyWhenSomethingMustGo) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 40_B), b = program.op({}, 60_B);
  EXPECT_EQ(program.policy.asked, 0u);
  program.op({}, 10_B);
  EXPECT_EQ(program.policy.asked, 1u);
  EXPECT_TRUE(program.evicted(a));
  EXPECT_TRUE(program.resident(b));
}

TEST(Budget, EvictsAsManyAsTheNeedTakes) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 40_B), b = program.op({}, 30_B), c = program.op({}, 30_B);
  program.op({}, 60_B);
  EXPECT_TRUE(program.evicted(a));
  EXPECT_TRUE(program.evicted(b));
  EXPECT_TRUE(program.resident(c));
  EXPECT_EQ(program.manager.counters().evictions, 2u);
}

TEST(Budget, CanBeTakenForBytesThatAreNoTensors) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 80_B);
  const Charge workspace = program.manager.allocate(50_B);
  EXPECT_TRUE(program.evicted(a));
  EXPECT_EQ(program.manager.ledger().used(), 50_B);
}

TEST(Budget, IsFreedWhenAStorageDies) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.constant(80_B);
  program.release(a);
  program.manager.end_step();
  EXPECT_TRUE(program.dead(a));
  EXPECT_EQ(program.manager.ledger().used(), 0_B);
}

TEST(OutOfBudget, NamesTheNeedTheBudgetAndWhatIsHeld) {
  Program program{{.budget = 100_B}};
  program.constant(70_B);
  try {
    program.constant(50_B);
    FAIL() << "120 bytes in a budget of 100";
  } catch (const OutOfBudget& error) {
    EXPECT_EQ(error.need, 50_B);
    EXPECT_EQ(error.budget, 100_B);
    EXPECT_EQ(error.held, 70_B);
    EXPECT_EQ(error.smallest_budget(), 120_B);
    EXPECT_NE(std::string{error.what()}.find("120"), std::string::npos) << error.what();
  }
}

TEST(OutOfBudget, CountsOnlyWhatCouldNotGo) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.constant(30_B);
  program.op({a}, 40_B);
  try {
    program.op({a}, 90_B);
    FAIL() << "30 + 90 bytes in a budget of 100";
  } catch (const OutOfBudget& error) {
    EXPECT_EQ(error.held, 30_B);
    EXPECT_EQ(error.smallest_budget(), 120_B);
  }
}

TEST(OutOfBudget, IsNotThrownWithTheSmallestBudgetItNames) {
  const auto run = [](Bytes budget) {
    Program program{{.budget = budget}};
    const TensorId a = program.constant(30_B), b = program.op({a}, 40_B);
    program.op({a, b}, 50_B);
  };
  Bytes smallest{};
  try {
    run(100_B);
  } catch (const OutOfBudget& error) {
    smallest = error.smallest_budget();
  }
  EXPECT_EQ(smallest, 120_B);
  EXPECT_NO_THROW(run(smallest));
}

TEST(OutOfBudget, LeavesTheManagerUsable) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.constant(30_B), b = program.op({a}, 40_B);
  EXPECT_THROW(program.op({a}, 90_B), OutOfBudget);
  program.manager.check();
  EXPECT_EQ(program.all_pins(), 0u);
  const TensorId c = program.op({b}, 20_B);
  EXPECT_TRUE(program.resident(c));
}

}  // namespace
}  // namespace weir::core
