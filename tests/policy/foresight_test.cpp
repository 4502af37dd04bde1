#include <gtest/gtest.h>

#include <algorithm>

#include "policy/backward_order.h"
#include "policy/scene.h"

namespace weir::policy {
namespace {

class Foresight : public testing::TestWithParam<std::string> {
 protected:
  StorageId forward(std::vector<StorageId> from, Nanos cost, Bytes size = {10}) {
    return scene_.make({.from = std::move(from), .size = size, .cost = cost});
  }
  StorageId backward(std::vector<StorageId> from, Nanos cost, Bytes size = {10}) {
    return scene_.make(
        {.from = std::move(from), .size = size, .cost = cost, .phase = Phase::Backward});
  }
  // A long time goes by in which nothing else is read. Too dear to go.
  void wait() {
    forward({}, {100'000}, {100});
    forward({}, {100'000}, {100});
  }

  Scene scene_{GetParam()};
};

TEST_P(Foresight, GivesUpTheCheapestPerByteInForward) {
  forward({}, {50});
  const StorageId cheap = forward({}, {20});
  forward({}, {30});
  wait();
  EXPECT_EQ(scene_.choose(), cheap);
}

TEST_P(Foresight, DoesNotChargeAgainForWhatBackwardWantsAnyway) {
  const StorageId dear = forward({}, {1000});
  const StorageId next = forward({dear}, {10});
  forward({}, {300});
  wait();
  scene_.evict(dear);
  EXPECT_EQ(scene_.choose(), next);
}

TEST_P(Foresight, ChargesForWhatNobodyWantsAndWouldHaveToRunAgain) {
  const StorageId dear = forward({}, {1000});
  forward({dear}, {10});
  const StorageId other = forward({}, {300});
  wait();
  scene_.let_go(dear);
  scene_.evict(dear);
  EXPECT_EQ(scene_.choose(), other);
}

TEST_P(Foresight, KeepsWhatForwardIsAboutToRead) {
  StorageId last = forward({}, {100});
  for (int layer = 0; layer < 200; ++layer) last = forward({last}, {100});
  EXPECT_NE(scene_.choose(), last);
}

// A weight is read all the time, a moment by the optimizer only. A fetch of either costs less than
// to make an activation again.
TEST_P(Foresight, GivesUpWhatOnlyATierCanBringBackIfItHasGoneUnused) {
  const Nanos now{100'000}, lately{99'900};
  const auto carried = [&](Nanos last_use) {
    return scene_.make({.size = {10}, .cost = {20}, .last_use = last_use, .carried = true});
  };
  const StorageId weight = carried(lately);
  forward({}, {97'000}, {100});
  const StorageId activation = forward({}, {3000});
  EXPECT_EQ(scene_.choose(now), activation);
  const StorageId moment = carried({0});
  EXPECT_EQ(scene_.choose(now), moment);
  backward({activation}, {10});
  EXPECT_EQ(scene_.choose(now), moment);
  EXPECT_NE(scene_.choose(now), weight);
}

// As a U-Net does: what is pooled on the way down is joined on the way up.
TEST_P(Foresight, KeepsWhatNestedReadsComeToNext) {
  constexpr std::uint64_t kPool = 1, kJoin = 2;
  std::vector<StorageId> skips;
  StorageId last = forward({}, {100});
  for (int level = 0; level < 4; ++level) {
    skips.push_back(forward({last}, {level == 0 ? 50 : 100}));
    last = scene_.make({.from = {skips.back()}, .size = {10}, .cost = {120}, .kind = kPool});
  }
  wait();
  const auto join = [&](StorageId skip) {
    last = scene_.make({.from = {skip, last}, .size = {10}, .cost = {150}, .kind = kJoin});
  };
  join(skips[3]);
  EXPECT_EQ(scene_.choose(), skips[0]);  // nothing tells yet that it will be read again
  join(skips[2]);
  EXPECT_NE(scene_.choose(), skips[0]);
  EXPECT_NE(scene_.choose(), skips[1]);
}

TEST_P(Foresight, NestsReadsAnewInTheNextStep) {
  constexpr std::uint64_t kPool = 1, kJoin = 2;
  for (int step = 0; step < 2; ++step) {
    std::vector<StorageId> made, skips;
    for (int level = 0; level < 3; ++level) {
      skips.push_back(forward({}, {level == 0 ? 50 : 100}));
      made.push_back(scene_.make({.from = {skips.back()}, .cost = {1000}, .kind = kPool}));
    }
    for (int level = 2; level > 0; --level)
      made.push_back(scene_.make(
          {.from = {skips[static_cast<std::size_t>(level)]}, .cost = {1000}, .kind = kJoin}));
    wait();
    EXPECT_NE(scene_.choose(), skips[0]) << step;
    made.push_back(scene_.make({.from = {skips[0]}, .cost = {1000}, .kind = kJoin}));
    made.push_back(backward({made.back()}, {1}));
    made.insert(made.end(), skips.begin(), skips.end());
    for (StorageId storage : made) {
      scene_.let_go(storage);
      scene_.evict(storage);
    }
  }
}

TEST_P(Foresight, GivesUpWhatBackwardWantsLast) {
  const StorageId first = forward({}, {100});
  const StorageId second = forward({first}, {100});
  const StorageId third = forward({second}, {100});
  backward({third}, {100});
  EXPECT_EQ(scene_.choose(), first);
}

TEST_P(Foresight, KeepsWhatBackwardMade) {
  std::vector<StorageId> layers{forward({}, {100})};
  while (layers.size() < 10) layers.push_back(forward({layers.back()}, {100}));
  backward({layers.back()}, {1});
  for (std::size_t layer = 0; layer < 5; ++layer) {
    const StorageId victim = scene_.choose();
    EXPECT_NE(std::ranges::find(layers, victim), layers.end());
    scene_.evict(victim);
  }
}

// Backward has read it and is past it, but nobody let go of it: it will be read again, when what it
// was made from is gone.
TEST_P(Foresight, KeepsWhatIsHeldOnTo) {
  std::vector<StorageId> layers{forward({}, {100})};
  while (layers.size() < 10) layers.push_back(forward({layers.back()}, {100}));
  const StorageId held = forward({layers.back()}, {1});
  const StorageId last = forward({held}, {100});
  for (StorageId read : {last, held, layers[9], layers[8], layers[7]}) backward({read}, {1});
  EXPECT_EQ(scene_.choose(), layers[0]);
  scene_.let_go(held);
  EXPECT_EQ(scene_.choose(), held);
}

INSTANTIATE_TEST_SUITE_P(Policies, Foresight,
                         testing::Values("foresight_online", "foresight_ranked"),
                         [](const auto& name) { return name.param; });

class BackwardOrderOf : public testing::Test {
 protected:
  StorageId run(Phase phase, std::vector<StorageId> from) {
    std::vector<TensorId> inputs;
    for (StorageId source : from) inputs.push_back(graph_[source].root);
    const OpId op = graph_.add_op(0, true, inputs, {.phase = phase, .position = position_});
    order_.begin(graph_, graph_[op]);
    graph_.begin_outputs(op, 1);
    const StorageId storage = graph_.add_storage({1});
    graph_.add_output(op, storage, true);
    graph_.extend_recipe(storage, op);
    position_ += {10};
    return storage;
  }

  Graph graph_;
  BackwardOrder order_;
  Nanos position_{};
};

TEST_F(BackwardOrderOf, AChainFallsOpByOp) {
  const StorageId a = run(Phase::Forward, {});   // at 0
  const StorageId b = run(Phase::Forward, {a});  // at 10
  const StorageId c = run(Phase::Forward, {b});  // at 20
  EXPECT_FALSE(order_.in_backward());
  const StorageId of_c = run(Phase::Backward, {c});
  EXPECT_TRUE(order_.in_backward());
  EXPECT_EQ(order_.frontier(), Nanos{20});
  EXPECT_EQ(order_.next_want(graph_, b), Nanos{20});
  run(Phase::Backward, {of_c, b});
  EXPECT_EQ(order_.frontier(), Nanos{20});
  run(Phase::Backward, {a});
  EXPECT_EQ(order_.frontier(), Nanos{10});
  EXPECT_FALSE(order_.ahead(graph_, c));
  EXPECT_TRUE(order_.ahead(graph_, b));
  EXPECT_FALSE(order_.ahead(graph_, of_c));
}

TEST_F(BackwardOrderOf, WhatIsReadTwiceIsWantedTwice) {
  const StorageId a = run(Phase::Forward, {});
  const StorageId b = run(Phase::Forward, {a});  // at 10
  const StorageId c = run(Phase::Forward, {b});
  const StorageId d = run(Phase::Forward, {a, c});  // at 30
  run(Phase::Backward, {d});
  EXPECT_EQ(order_.next_want(graph_, a), Nanos{30});
  run(Phase::Backward, {b});  // of c, at 20
  EXPECT_EQ(order_.next_want(graph_, a), Nanos{10});
}

TEST_F(BackwardOrderOf, WhatNothingIsLetGoOfIsHeldOn) {
  const StorageId a = run(Phase::Forward, {});
  const StorageId b = run(Phase::Forward, {a});
  const StorageId c = run(Phase::Forward, {b});
  const StorageId result = run(Phase::Forward, {c});
  for (StorageId storage : {a, b, c, result}) graph_[storage].references = 2;
  run(Phase::Backward, {c});
  EXPECT_FALSE(order_.held_on(graph_, c));  // backward is not past it
  run(Phase::Backward, {b});
  run(Phase::Backward, {a});
  EXPECT_TRUE(order_.held_on(graph_, c));
  EXPECT_FALSE(order_.held_on(graph_, b));
  EXPECT_FALSE(order_.held_on(graph_, result));  // backward never wanted it
  graph_[c].references = 1;
  EXPECT_FALSE(order_.held_on(graph_, c));
  graph_[c].references = 2;
  run(Phase::Forward, {});
  EXPECT_FALSE(order_.held_on(graph_, c));
}

TEST_F(BackwardOrderOf, AnotherForwardBeginsAnew) {
  const StorageId a = run(Phase::Forward, {});
  run(Phase::Backward, {a});
  run(Phase::Optimizer, {a});
  EXPECT_TRUE(order_.in_backward());
  run(Phase::Forward, {});  // at 30
  EXPECT_FALSE(order_.in_backward());
  run(Phase::Forward, {});
  EXPECT_EQ(order_.start(), Nanos{30});
  EXPECT_EQ(order_.length(), Nanos{10});
}

}  // namespace
}  // namespace weir::policy
