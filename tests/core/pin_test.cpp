// A pin is an object; a ticket given up leaves nothing behind.
#include "core/program.h"

namespace weir::core {
namespace {

TEST(Pin, KeepsAStorageResidentWhileItLives) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 60_B);
  {
    const Pin pin = program.keep(a);
    EXPECT_FALSE(program.candidate(a));
    EXPECT_THROW(program.op({}, 50_B), OutOfBudget);
  }
  EXPECT_TRUE(program.candidate(a));
  program.op({}, 50_B);
  EXPECT_TRUE(program.evicted(a));
}

TEST(Pin, CanBeMoved) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 60_B);
  Pin first = program.keep(a);
  {
    const Pin second = std::move(first);
    EXPECT_EQ(program.storage(a).pins, 1u);
  }
  EXPECT_EQ(program.storage(a).pins, 0u);
}

TEST(Pin, AddsUp) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 60_B);
  std::optional<Pin> first = program.keep(a);
  const Pin second = program.keep(a);
  first.reset();
  EXPECT_FALSE(program.candidate(a));
}

TEST(Pin, OnAViewHoldsItsStorage) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 60_B), view = program.view(a);
  const Pin pin = program.keep(view);
  EXPECT_EQ(program.storage(a).pins, 1u);
}

TEST(Pin, OutlivesTheLastReference) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 60_B);
  {
    const Pin pin = program.keep(a);
    program.release(a);
    program.manager.end_step();
    EXPECT_TRUE(program.resident(a));
  }
  program.manager.end_step();
  EXPECT_TRUE(program.dead(a));
}

TEST(Ticket, GivesUpItsOpWhenItIsDestroyed) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B);
  const std::size_t tensors = program.manager.graph().tensors();
  {
    Ticket ticket = program.begin({a}, {{20_B}});
    program.restore(ticket);
    ticket.deliver(0, program.manager.allocate(20_B));
    EXPECT_EQ(program.manager.ledger().used(), 30_B);
  }
  EXPECT_EQ(program.all_pins(), 0u);
  EXPECT_EQ(program.manager.ledger().used(), 10_B);
  EXPECT_TRUE(program.dead(TensorId{static_cast<std::uint32_t>(tensors)}));
  program.manager.check();
}

TEST(Ticket, IsGivenUpWhenAnOpRunsOutOfBudget) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 60_B);
  EXPECT_THROW(program.op({a}, 50_B), OutOfBudget);
  EXPECT_EQ(program.all_pins(), 0u);
  EXPECT_EQ(program.manager.ledger().used(), 60_B);
  program.manager.check();
}

TEST(Ticket, IsGivenUpInTheMiddleOfRestoring) {
  Program program{{.budget = 100_B, .restore = RestoreOrder::DepthFirst}};
  const TensorId a = program.op({}, 60_B), b = program.op({a}, 10_B), c = program.constant(20_B);
  program.evict(b);
  program.evict(a);
  const Charge elsewhere = program.manager.allocate(40_B);
  EXPECT_THROW(program.read({b, c}), OutOfBudget);
  EXPECT_EQ(program.all_pins(), 0u);
  program.manager.check();
}

TEST(Ticket, LeavesNothingHalfRestored) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B);
  program.change({a});
  program.evict(a);
  {
    Ticket ticket = program.begin({a});
    ASSERT_NE(program.manager.next(ticket), nullptr);
    ticket.deliver(0, program.manager.allocate(10_B));
    ASSERT_NE(program.manager.next(ticket), nullptr);  // the change
    EXPECT_TRUE(program.resident(a));
    EXPECT_FALSE(program.storage(a).complete());
  }
  EXPECT_TRUE(program.evicted(a));
  program.manager.check();
  program.read({a});
  EXPECT_TRUE(program.storage(a).complete());
}

TEST(Ticket, GivenUpForAViewLeavesTheReferencesAsTheyWere) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B);
  { const Ticket ticket = program.begin({a}, {{.size = {}, .alias_of = 0}}); }
  EXPECT_EQ(program.storage(a).references, 1u);
  program.release(a);
  EXPECT_TRUE(program.dead(a));
}

TEST(Ticket, GivenUpBeforeItsOpIsDeclaredLeavesNothing) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B);
  const TensorId inputs[] = {a};
  { const Ticket ticket = program.manager.begin({.tag = 1, .inputs = inputs, .mutated = {}}); }
  EXPECT_EQ(program.all_pins(), 0u);
  program.manager.check();
}

TEST(Ticket, CanBeMoved) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B);
  Ticket first = program.begin({a});
  {
    const Ticket second = std::move(first);
    EXPECT_EQ(program.storage(a).pins, 1u);
  }
  EXPECT_EQ(program.storage(a).pins, 0u);
}

TEST(Ticket, MayLiveNextToAnother) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B), b = program.op({}, 10_B);
  Ticket outer = program.begin({a});
  Ticket inner = program.begin({a, b});
  program.manager.end(std::move(inner));
  EXPECT_EQ(program.storage(a).pins, 1u);
  program.manager.end(std::move(outer));
  EXPECT_EQ(program.all_pins(), 0u);
}

TEST(Ticket, GivenUpLeavesAloneWhatAnotherOneRestores) {
  Program program{{.budget = 100_B}};
  const TensorId a = program.op({}, 10_B), b = program.op({}, 10_B);
  program.change({a});
  program.evict(a);
  Ticket restoring = program.begin({a});
  ASSERT_NE(program.manager.next(restoring), nullptr);
  restoring.deliver(0, program.manager.allocate(10_B));
  ASSERT_NE(program.manager.next(restoring), nullptr);  // a is half restored
  { const Ticket other = program.begin({b}); }
  EXPECT_TRUE(program.resident(a));
  program.restore(restoring);
  program.manager.end(std::move(restoring));
  EXPECT_TRUE(program.storage(a).complete());
}

}  // namespace
}  // namespace weir::core
