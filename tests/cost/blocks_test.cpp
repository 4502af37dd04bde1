#include "cost/blocks.h"

#include <gtest/gtest.h>

#include <numeric>

#include "cost/curve.h"
#include "cost/nets.h"

namespace weir::cost::test {
namespace {

constexpr std::int64_t kLarge = 1 << 20;

TEST(Blocks, AreNotInAChain) {
  Net net{1, 4};
  auto x = net.data(kLarge);
  for (int i = 0; i < 4; ++i) x = net.pool(x, kLarge, false);
  net.loss(x);
  const Step step = std::move(net).train();
  const Blocks blocks{step};
  EXPECT_EQ(blocks.blocks(), 0u);
  EXPECT_EQ(blocks.layers(), 9u);
  EXPECT_EQ(blocks.scope(1, 1), Scope::IntraOp);
  EXPECT_EQ(blocks.scope(1, 2), Scope::Adjacent);
  EXPECT_EQ(blocks.scope(0, 3), Scope::Block);
  EXPECT_TRUE(blocks.beyond_block(0, 3));
  EXPECT_EQ(blocks.scope(1, 8), Scope::ForwardBackward);
}

TEST(Blocks, SpanAResidualConnection) {
  Net net{1, 4};
  const auto x = net.pool(net.data(kLarge), kLarge, false);            // op 0
  const auto y = net.pool(net.pool(x, kLarge, false), kLarge, false);  // ops 1, 2
  const auto z = net.pool(net.sum(x, y), kLarge, false);               // ops 3, 4
  net.loss(net.pool(z, kLarge, false));
  const Step step = std::move(net).train();
  const Blocks blocks{step};
  EXPECT_GE(blocks.blocks(), 1u);
  EXPECT_EQ(blocks.scope(1, 3), Scope::Block);
  EXPECT_FALSE(blocks.beyond_block(1, 3));
  EXPECT_FALSE(blocks.beyond_block(0, 3));  // what enters the block
  EXPECT_TRUE(blocks.beyond_block(1, 5));
}

TEST(Blocks, OfResNet50AreItsSixteenForwardAndSixteenBackward) {
  // Every convolution's two gradients read one: they are pairs outside of the sixteen, such as the
  // stem has none (its data needs no gradient). The classifier is the one that is left.
  EXPECT_EQ(Blocks{resnet50(2, 4).step}.blocks(), 33u);
}

TEST(Blocks, TakeOpsThatTouchNextToNothingForNoLayers) {
  Step step;
  step.items = {{StorageId{0}, {kLarge}}, {StorageId{1}, {8}}};
  step.accesses = {{0, false, true}, {1, true, true}, {0, true, false}};
  step.sweeps = {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}};
  step.ops.resize(3);
  const Blocks blocks{step};
  EXPECT_EQ(blocks.scope(0, 2), Scope::Adjacent);
}

// Every byte that is saved has one scope.
TEST(Reuse, IsAttributedInFull) {
  for (const Step& step : {resnet50(4, 4).step, transformer(2, 4).step, lstm(4, 4).step}) {
    const Reuse reuse = reuse_of(step, Blocks{step});
    const MissCurve curve{step, reuse};
    for (const double capacity : {0.0, 1e6, 1e7, 1e8, 1e9, 1e12}) {
      const Traffic traffic = curve.at(capacity);
      double saved = 0;
      for (const double scope : traffic.saved) saved += scope;
      EXPECT_NEAR(saved + traffic.total(), curve.no_reuse(), 1e-6 * curve.no_reuse());
      double read = 0, write = 0;
      for (const OpTraffic& op : traffic_by_op(step, reuse, capacity)) {
        read += op.read;
        write += op.write;
      }
      EXPECT_NEAR(read, traffic.read, 1e-6 * curve.no_reuse()) << capacity;
      EXPECT_NEAR(write, traffic.write, 1e-6 * curve.no_reuse()) << capacity;
    }
  }
}

}  // namespace
}  // namespace weir::cost::test
