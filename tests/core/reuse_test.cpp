// Ids of what died are given out again.
#include "core/program.h"

namespace weir::core {
namespace {

Options reusing() { return {.budget = 100_B, .reuse_ids = true}; }

TEST(Reuse, GivesTheIdsOfTheDeadToTheNext) {
  Program program{reusing()};
  const TensorId a = program.op({}, 10_B);
  const StorageId storage = program.manager.storage_of(a);
  program.release(a);
  const TensorId b = program.op({}, 20_B);
  EXPECT_EQ(b, a);
  EXPECT_EQ(program.manager.storage_of(b), storage);
  EXPECT_EQ(program.storage(b).size, 20_B);
  EXPECT_EQ(program.storage(b).version, 0u);
}

TEST(Reuse, SaysSoFirst) {
  Program program{reusing()};
  const TensorId a = program.constant(10_B);
  const StorageId storage = program.manager.storage_of(a);
  program.release(a);
  ASSERT_EQ(program.buried.size(), 1u);
  EXPECT_EQ(program.buried.front(), storage);
}

TEST(Reuse, WaitsWhileAnOpCouldMakeItAgain) {
  Program program{reusing()};
  const TensorId a = program.op({}, 10_B), b = program.op({a}, 10_B);
  program.release(a);
  EXPECT_TRUE(program.buried.empty());
  program.evict(b);
  program.read({b});
  EXPECT_TRUE(program.resident(b));
}

TEST(Reuse, WaitsUntilNobodyIsBeingRestored) {
  Program program{reusing()};
  const TensorId a = program.op({}, 10_B), b = program.op({}, 10_B);
  program.evict(a);
  Ticket ticket = program.begin({a});
  ASSERT_NE(program.manager.next(ticket), nullptr);
  program.release(b);
  EXPECT_TRUE(program.buried.empty());
  ticket.deliver(0, program.manager.allocate(10_B));
  program.restore(ticket);
  program.manager.end(std::move(ticket));
  EXPECT_EQ(program.buried.size(), 1u);
}

TEST(Reuse, LeavesASiblingsOpAlone) {
  Program program{reusing()};
  const std::vector<TensorId> made = program.op_with({}, {{10_B}, {10_B}});
  program.release(made[0]);
  const TensorId other = program.op({}, 10_B);
  EXPECT_NE(other, made[0]);
  program.evict(made[1]);
  program.read({made[1]});
  EXPECT_TRUE(program.resident(made[1]));
  program.manager.check();
}

TEST(Reuse, DoesNotGrowOverManySteps) {
  Program program{reusing()};
  const TensorId parameter = program.constant(10_B);
  const auto step = [&] {
    TensorId last = program.op({parameter}, 10_B);
    for (int i = 0; i < 8; ++i) {
      const TensorId next = program.op({last, parameter}, 10_B);
      program.release(std::exchange(last, next));
    }
    program.change({parameter, last});
    program.release(last);
    program.manager.end_step();
  };
  step();
  step();
  const std::size_t storages = program.manager.graph().storages();
  const std::size_t tensors = program.manager.graph().tensors();
  const std::size_t ops = program.manager.graph().ops();
  for (int i = 0; i < 100; ++i) step();
  EXPECT_EQ(program.manager.graph().storages(), storages);
  EXPECT_EQ(program.manager.graph().tensors(), tensors);
  EXPECT_EQ(program.manager.graph().ops(), ops);
  EXPECT_EQ(program.manager.graph().living_storages(), 1u);
}

}  // namespace
}  // namespace weir::core
