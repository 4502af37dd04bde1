// What the lean order does that DTR's does not.
#include <gmock/gmock.h>

#include "core/program.h"

namespace weir::core {
namespace {

using testing::ElementsAre;

// An op reads `held`, which is there, and `missing`, whose maker reads a ghost of 60 bytes. The
// ghost and `held` do not fit together with anything else.
struct Tight {
  explicit Tight(RestoreOrder order, Bytes budget = 100_B)
      : program{{.budget = budget, .restore = order}} {
    ghost = program.op({}, 60_B);
    missing = program.op({ghost}, 10_B);
    program.release(ghost);
    program.evict(missing);
    held = program.op({}, 40_B);
  }
  Program program;
  TensorId ghost{}, missing{}, held{};
};

TEST(Lean, FitsWhereDepthFirstRunsOut) {
  Tight depth_first{RestoreOrder::DepthFirst};
  EXPECT_THROW(depth_first.program.read({depth_first.held, depth_first.missing}), OutOfBudget);
  Tight lean{RestoreOrder::Lean};
  EXPECT_NO_THROW(lean.program.read({lean.held, lean.missing}));
  lean.program.manager.check();
}

TEST(Lean, GivesAnOpThatGaveWayItsInputsBack) {
  Tight tight{RestoreOrder::Lean};
  Program& program = tight.program;
  Ticket ticket = program.begin({tight.held, tight.missing});
  program.restore(ticket);
  EXPECT_THAT(program.replayed,
              ElementsAre(program.maker(tight.ghost), program.maker(tight.missing),
                          program.maker(tight.held)));
  EXPECT_EQ(program.storage(tight.held).pins, 1u);
  EXPECT_EQ(program.storage(tight.missing).pins, 1u);
  program.manager.end(std::move(ticket));
  EXPECT_EQ(program.all_pins(), 0u);
}

TEST(Lean, GivesNothingAwayThatFits) {
  Tight roomy{RestoreOrder::Lean, 110_B};
  roomy.program.read({roomy.held, roomy.missing});
  EXPECT_EQ(roomy.program.storage(roomy.held).evictions, 0u);
}

TEST(Lean, NeverGivesAwayWhatCannotComeBack) {
  Program program{{.budget = 100_B}};
  const TensorId ghost = program.op({}, 60_B), missing = program.op({ghost}, 10_B);
  program.release(ghost);
  program.evict(missing);
  const TensorId constant = program.constant(40_B);
  EXPECT_THROW(program.read({constant, missing}), OutOfBudget);
  EXPECT_TRUE(program.resident(constant));
  program.manager.check();
}

TEST(Lean, NeverGivesAwayWhatAPinHolds) {
  Tight tight{RestoreOrder::Lean};
  const Pin pin = tight.program.keep(tight.held);
  EXPECT_THROW(tight.program.read({tight.held, tight.missing}), OutOfBudget);
  EXPECT_TRUE(tight.program.resident(tight.held));
  EXPECT_EQ(tight.program.all_pins(), 1u);
}

TEST(Lean, IsGivenUpCleanlyAfterGivingWay) {
  Tight tight{RestoreOrder::Lean};
  const Charge elsewhere = tight.program.manager.allocate(35_B);
  EXPECT_THROW(tight.program.read({tight.held, tight.missing}), OutOfBudget);
  EXPECT_EQ(tight.program.all_pins(), 0u);
  EXPECT_EQ(tight.program.storage(tight.ghost).awaited, 0u);
  tight.program.manager.check();
}

TEST(Lean, DropsWhatIsSpentBeforeItAsksThePolicy) {
  Program program = Program::frugal(50_B);
  const TensorId other = program.op({}, 10_B), a = program.op({}, 10_B), b = program.op({a}, 10_B),
                 c = program.op({b}, 10_B);
  program.release(a);
  program.release(b);
  program.evict(c);
  program.read({c});  // brings a and b back too: nobody else wants them
  EXPECT_EQ(program.storage(a).place, Place::Spent);
  EXPECT_EQ(program.storage(b).place, Place::Spent);
  const std::size_t asked = program.policy.asked;
  const Charge most = program.manager.allocate(30_B);
  EXPECT_EQ(program.policy.asked, asked);
  EXPECT_TRUE(program.evicted(a));
  EXPECT_TRUE(program.evicted(b));
  EXPECT_TRUE(program.resident(other));
}

TEST(Lean, DropsTheLatestSpentFirst) {
  Program program = Program::frugal(50_B);
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B), c = program.op({b}, 10_B);
  program.release(a);
  program.release(b);
  program.evict(c);
  program.read({c});
  program.given_up.clear();
  const Charge most = program.manager.allocate(40_B);
  EXPECT_THAT(program.given_up,
              ElementsAre(program.manager.graph()[b].storage, program.manager.graph()[a].storage));
}

TEST(Lean, SparesWhatAnOpOnItsListReads) {
  Program program = Program::frugal(100_B);
  const TensorId ghost = program.op({}, 10_B), a = program.op({ghost}, 10_B),
                 b = program.op({ghost}, 10_B);
  program.release(ghost);
  program.evict(a);
  program.evict(b);
  Ticket ticket = program.begin({a, b});
  EXPECT_EQ(program.storage(ghost).awaited, 2u);
  program.restore(ticket);
  EXPECT_EQ(program.storage(ghost).awaited, 0u);
  EXPECT_EQ(program.storage(ghost).place, Place::Spent);
  program.manager.end(std::move(ticket));
}

TEST(Lean, TakesASpentStorageBackAmongTheCandidatesWhenItIsRetained) {
  Program program = Program::frugal(100_B);
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B);
  program.release(a);
  program.evict(b);
  program.read({b});
  ASSERT_EQ(program.storage(a).place, Place::Spent);
  program.manager.retain(a);
  EXPECT_TRUE(program.candidate(a));
}

// `hungry` is made from 50 bytes that nobody else wants; `modest` from nothing.
TEST(Lean, BringsTheHungriestInputBackFirst) {
  Program program = Program::frugal(100_B);
  const TensorId ghost = program.op({}, 50_B), hungry = program.op({ghost}, 10_B),
                 modest = program.op({}, 10_B);
  program.release(ghost);
  program.evict(hungry);
  program.evict(modest);
  program.read({modest, hungry});
  EXPECT_THAT(program.replayed,
              ElementsAre(program.maker(ghost), program.maker(hungry), program.maker(modest)));
}

TEST(DepthFirst, BringsInputsBackInTheirOrder) {
  Program program{{.budget = 100_B, .restore = RestoreOrder::DepthFirst}};
  const TensorId ghost = program.op({}, 50_B), hungry = program.op({ghost}, 10_B),
                 modest = program.op({}, 10_B);
  program.release(ghost);
  program.evict(hungry);
  program.evict(modest);
  program.read({modest, hungry});
  EXPECT_THAT(program.replayed,
              ElementsAre(program.maker(modest), program.maker(ghost), program.maker(hungry)));
}

TEST(DepthFirst, KnowsNoSpentStorages) {
  Program program{{.budget = 100_B, .restore = RestoreOrder::DepthFirst}};
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B);
  program.release(a);
  program.evict(b);
  program.read({b});
  EXPECT_TRUE(program.candidate(a));
}

}  // namespace
}  // namespace weir::core
