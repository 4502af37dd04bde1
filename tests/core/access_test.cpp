// Writers whom the manager does not see, and budgets that change.
#include "core/program.h"

namespace weir::core {
namespace {

TEST(WriteAccess, TakesTheRecipeOfWhatIsWritten) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B);
  program.write(a);
  EXPECT_FALSE(program.storage(a).has_recipe());
  EXPECT_EQ(program.storage(a).version, 1u);
}

TEST(WriteAccess, SavesReadersOfTheOldBytesFirst) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B), away = program.op({a}, 10_B),
                 here = program.op({a}, 10_B);
  program.evict(away);
  program.write(a);
  EXPECT_TRUE(program.resident(away));
  EXPECT_FALSE(program.storage(away).has_recipe());
  EXPECT_FALSE(program.storage(here).has_recipe());
  program.manager.check();
}

TEST(WriteAccess, MakesACopyInATierWorthless) {
  Program program{{.budget = 100_B, .offload = true}};
  const TensorId a = program.constant(10_B);
  program.evict(a);
  program.write(a);
  EXPECT_TRUE(program.resident(a));
  EXPECT_TRUE(program.copies.empty());
}

TEST(WriteAccess, GivenUpChangesNothing) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B);
  { const Ticket ticket = program.manager.begin_access(a, Access::Write); }
  EXPECT_TRUE(program.storage(a).has_recipe());
  EXPECT_EQ(program.storage(a).version, 0u);
  EXPECT_EQ(program.all_pins(), 0u);
}

// An op that reads while another thread changes has read bytes that nothing can bring back.
TEST(WriteAccess, LeavesAReaderThatRunsMeanwhileWithoutARecipe) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B);
  Ticket writer = program.manager.begin_access(a, Access::Write);
  program.restore(writer);
  const TensorId b = program.op({a}, 10_B);
  const Pin pin = program.manager.end_access(std::move(writer));
  EXPECT_FALSE(program.storage(b).has_recipe());
  program.manager.check();
}

TEST(WriteAccess, LeavesAReaderThatBeganBeforeWithoutARecipe) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B);
  const TensorId inputs[] = {a};
  Ticket reader = program.manager.begin({.tag = 0, .inputs = inputs, .mutated = {}});
  program.write(a);
  const Output output{.size = 10_B};
  const TensorId b = program.manager.declare(reader, {&output, 1}, 1_ns);
  reader.deliver(0, program.manager.allocate(10_B));
  program.manager.end(std::move(reader));
  EXPECT_FALSE(program.storage(b).has_recipe());
  program.manager.check();
}

TEST(Access, OfWhatIsThereWaitsForNothing) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B), away = program.op({}, 10_B);
  program.evict(away);
  Ticket restoring = program.begin({away});
  ASSERT_NE(program.manager.next(restoring), nullptr);
  Ticket ticket = program.manager.begin_access(a);
  EXPECT_FALSE(ticket.waits());
  EXPECT_EQ(program.manager.next(ticket), nullptr);  // while another one is being restored
  const Pin pin = program.manager.end_access(std::move(ticket));
  restoring.deliver(0, program.manager.allocate(10_B));
  program.restore(restoring);
  program.manager.end(std::move(restoring));
}

TEST(Reclaim, GivesUpAtLeastWhatIsAskedFor) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 30_B), b = program.op({}, 30_B);
  EXPECT_EQ(program.manager.reclaim(20_B), 30_B);
  EXPECT_TRUE(program.evicted(a));
  EXPECT_TRUE(program.resident(b));
}

TEST(Reclaim, GivesUpWhatCanGo) {
  Program program{{.budget = 100_B}};
  program.constant(50_B);
  program.op({}, 30_B);
  EXPECT_EQ(program.manager.reclaim(60_B), 30_B);
  EXPECT_EQ(program.manager.reclaim(60_B), 0_B);
}

TEST(SetBudget, ReclaimsWhatIsAboveIt) {
  Program program{{.budget = 100_B}};
  program.op({}, 30_B);
  program.op({}, 30_B);
  program.manager.set_budget(40_B);
  EXPECT_EQ(program.manager.ledger().used(), 30_B);
  EXPECT_THROW(program.op({}, 50_B), OutOfBudget);
}

TEST(SetBudget, MayStayBelowWhatCannotGo) {
  Program program{{.budget = 100_B}};
  program.constant(50_B);
  program.manager.set_budget(40_B);
  EXPECT_EQ(program.manager.ledger().used(), 50_B);
  EXPECT_THROW(program.op({}, 1_B), OutOfBudget);
  program.manager.set_budget(100_B);
  program.op({}, 50_B);
}

}  // namespace
}  // namespace weir::core
