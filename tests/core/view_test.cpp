// Views under both rules.
#include <gmock/gmock.h>

#include "core/program.h"

namespace weir::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Options kKept{.budget = 100_B, .views = ViewRule::Keep};
constexpr Options kRerun{.budget = 100_B, .views = ViewRule::Rerun};

TEST(KeptView, TakesNoBytesAndSharesTheStorage) {
  Program program{kKept};
  const TensorId a = program.op({}, 10_B), view = program.view(a);
  EXPECT_EQ(program.manager.ledger().used(), 10_B);
  EXPECT_EQ(&program.storage(a), &program.storage(view));
  EXPECT_EQ(program.storage(a).references, 2u);
}

TEST(KeptView, CostsNothingToBringBack) {
  Program program{kKept};
  const TensorId a = program.op({}, 10_B), view = program.view(a);
  program.evict(a);
  program.read({view});
  EXPECT_THAT(program.replayed, ElementsAre(program.maker(a)));
  EXPECT_EQ(program.storage(a).cost, 1_ns);
}

TEST(KeptView, KeepsItsStorageWhenTheOriginalIsReleased) {
  Program program{kKept};
  const TensorId a = program.op({}, 10_B), view = program.view(a);
  program.release(a);
  EXPECT_TRUE(program.resident(view));
  program.release(view);
  EXPECT_TRUE(program.dead(view));
}

TEST(KeptView, OfAViewIsAViewOfTheSameStorage) {
  Program program{kKept};
  const TensorId a = program.op({}, 10_B), second = program.view(program.view(a));
  program.evict(a);
  program.read({second});
  EXPECT_THAT(program.replayed, ElementsAre(program.maker(a)));
}

TEST(RerunView, IsLostWithItsStorageAndRunAgain) {
  Program program{kRerun};
  const TensorId a = program.op({}, 10_B), view = program.view(a);
  program.evict(a);
  program.read({view});
  EXPECT_THAT(program.replayed, ElementsAre(program.maker(a), program.maker(view)));
}

TEST(RerunView, IsNotRunAgainWhenOnlyItsStorageIsWanted) {
  Program program{kRerun};
  const TensorId a = program.op({}, 10_B), view = program.view(a);
  program.evict(a);
  program.read({a});
  EXPECT_THAT(program.replayed, ElementsAre(program.maker(a)));
  program.read({view});
  EXPECT_THAT(program.replayed, ElementsAre(program.maker(a), program.maker(view)));
}

TEST(RerunView, AddsToTheCostOfItsStorage) {
  Program program{kRerun};
  const TensorId a = program.op({}, 10_B, 5_ns);
  program.view(a);
  EXPECT_EQ(program.storage(a).cost, 6_ns);
}

TEST(RerunView, AddsItsCostOnceForTwoViewsOfOneOp) {
  Program program{kRerun};
  const TensorId a = program.op({}, 10_B, 5_ns);
  program.op_with({a}, {{.size = {}, .alias_of = 0}, {.size = {}, .alias_of = 0}});
  EXPECT_EQ(program.storage(a).cost, 6_ns);
}

TEST(RerunView, OfAConstantIsNeverLost) {
  Program program{kRerun};
  const TensorId a = program.constant(10_B), view = program.view(a);
  EXPECT_FALSE(program.candidate(a));
  EXPECT_FALSE(program.storage(a).has_recipe());
  program.read({view});
  EXPECT_THAT(program.replayed, IsEmpty());
}

TEST(RerunView, NeedsTheViewItWasMadeFrom) {
  Program program{kRerun};
  const TensorId a = program.op({}, 10_B), first = program.view(a), second = program.view(first);
  program.evict(a);
  program.read({second});
  EXPECT_THAT(program.replayed,
              ElementsAre(program.maker(a), program.maker(first), program.maker(second)));
}

TEST(RerunView, NeedsTheOtherInputsOfItsOp) {
  Program program{kRerun};
  const TensorId a = program.op({}, 10_B), b = program.op({}, 10_B);
  const TensorId view = program.op_with({a, b}, {{.size = {}, .alias_of = 0}}).front();
  program.evict(a);
  program.evict(b);
  program.read({view});
  EXPECT_TRUE(program.resident(b));
  EXPECT_EQ(program.replayed.size(), 3u);
}

// Found by the twin: banishing the maker's input took the recipe, and with it the memory of what
// the view needs, while the view was undefined.
TEST(RerunView, KeepsWhatItsOpReadsAliveUntilItIsDefinedAgain) {
  Options options = kRerun;
  options.deallocation = Deallocation::Banish;
  Program program{options};
  const TensorId source = program.op({}, 10_B), a = program.op({source}, 10_B);
  const TensorId b = program.op({}, 10_B);
  const TensorId view = program.op_with({a, b}, {{.size = {}, .alias_of = 0}}).front();
  program.evict(a);
  program.release(source);
  program.release(b);
  EXPECT_FALSE(program.dead(source));
  program.read({a});  // a is back, its view is not
  EXPECT_FALSE(program.dead(source));
  EXPECT_FALSE(program.dead(b));
  program.read({view});
  EXPECT_TRUE(program.dead(b));
}

}  // namespace
}  // namespace weir::core
