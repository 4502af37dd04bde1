#include "pilot/carried.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::pilot {
namespace {

constexpr Bytes kSize{1000};

// Training steps of three phases that take 100 ns each, an op every 10 ns. Momenta are updated in
// the last, each by two ops; to come back takes a momentum 10 ns.
class Training {
 public:
  explicit Training(std::size_t momenta) {
    for (std::size_t i = 0; i < momenta; ++i) momenta_.push_back(add());
  }

  TensorId add() {
    const OpId op = graph_.add_op(0, false, {});
    const StorageId storage = graph_.add_storage(kSize);
    graph_.begin_outputs(op, 1);
    const TensorId tensor = graph_.add_output(op, storage, true);
    graph_[storage].move_to(Residency::Resident);
    graph_.drop(op);
    return tensor;
  }

  StorageId momentum(std::size_t i) const { return graph_[momenta_[i]].storage; }
  void take_away(std::size_t i) { graph_[momentum(i)].move_to(Residency::Offloaded); }
  void bring(std::size_t i) { graph_[momentum(i)].move_to(Residency::Resident); }

  // What is advised after the op.
  Ahead run(Phase phase, std::vector<TensorId> inputs = {}) {
    const OpId op = graph_.add_op(0, true, inputs, {.phase = phase, .position = position_});
    position_ = position_ + Nanos{10};
    carried_.begin(graph_, graph_[op]);
    Ahead ahead;
    carried_.look_ahead(view(), ahead);
    return ahead;
  }
  // Ten ops; all that is advised.
  Ahead run_ten(Phase phase) {
    Ahead all;
    for (int i = 0; i < 10; ++i) {
      const Ahead ahead = run(phase);
      all.save.insert(all.save.end(), ahead.save.begin(), ahead.save.end());
      all.bring.insert(all.bring.end(), ahead.bring.begin(), ahead.bring.end());
    }
    return all;
  }
  Ahead update(std::size_t i) { return run(Phase::Optimizer, {momenta_[i]}); }
  void end_step() {
    View end = view();
    end.tier = Reach{.link = {.write = kLane, .read = kLane}, .capacity = {1 << 20}};
    carried_.end_step(end);
  }
  // A step in which nobody does anything about what is away.
  void whole_step() {
    run_ten(Phase::Forward);
    run_ten(Phase::Backward);
    for (std::size_t i = 0; i < momenta_.size(); ++i) {
      if (graph_[momentum(i)].where() != Residency::Offloaded) {
        update(i);
        update(i);
        continue;
      }
      update(i);
      bring(i);
      update(i);
    }
    end_step();
  }
  void fill_memory() { used_ = kBudget; }

 private:
  static constexpr Bytes kBudget{100'000};
  static constexpr Lane kLane{.latency = {}, .bytes_per_nano = 100};

  [[nodiscard]] View view() const {
    return {.graph = graph_, .now = position_, .slots = {}, .used = used_, .budget = kBudget};
  }

  Graph graph_;
  Carried carried_;
  std::vector<TensorId> momenta_;
  Nanos position_{};
  Bytes used_{};
};

TEST(Carried, AdvisesNothingWhileAllIsThere) {
  Training training{2};
  for (int step = 0; step < 3; ++step) {
    EXPECT_TRUE(training.run_ten(Phase::Forward).bring.empty());
    EXPECT_TRUE(training.run_ten(Phase::Backward).bring.empty());
    EXPECT_TRUE(training.update(0).save.empty());
    EXPECT_TRUE(training.update(0).save.empty());
    training.end_step();
  }
}

TEST(Carried, BringsBackWhatTheUpdatesWantWhenBackwardIsNearlyThrough) {
  Training training{2};
  training.take_away(0);
  training.take_away(1);
  training.whole_step();
  training.take_away(1);
  training.take_away(0);
  EXPECT_TRUE(training.run_ten(Phase::Forward).bring.empty());
  // Backward takes 100 ns, and the two together 20.
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(training.run(Phase::Backward).bring.empty()) << i;
  EXPECT_EQ(training.run(Phase::Backward).bring,
            (std::vector{training.momentum(0), training.momentum(1)}));
}

TEST(Carried, AsksAgainUntilThereIsRoomAndThenNoMore) {
  Training training{1};
  training.take_away(0);
  training.whole_step();
  training.take_away(0);
  training.run_ten(Phase::Forward);
  for (int i = 0; i < 9; ++i) training.run(Phase::Backward);
  EXPECT_EQ(training.run(Phase::Backward).bring.size(), 1u);
  EXPECT_EQ(training.run(Phase::Backward).bring.size(), 1u);
  training.bring(0);
  EXPECT_TRUE(training.run(Phase::Backward).bring.empty());
  training.take_away(0);
  EXPECT_TRUE(training.run(Phase::Backward).bring.empty());
}

TEST(Carried, BringsNothingBackIntoFullMemory) {
  Training training{1};
  training.take_away(0);
  training.whole_step();
  training.take_away(0);
  training.fill_memory();
  training.run_ten(Phase::Forward);
  EXPECT_TRUE(training.run_ten(Phase::Backward).bring.empty());
}

TEST(Carried, SavesAfterTheLastUseWhatWasAwayInTheStepBefore) {
  Training training{2};
  training.take_away(0);
  training.whole_step();
  training.run_ten(Phase::Forward);
  training.run_ten(Phase::Backward);
  EXPECT_TRUE(training.update(0).save.empty());
  EXPECT_EQ(training.update(0).save, std::vector{training.momentum(0)});
  EXPECT_TRUE(training.update(1).save.empty());
  EXPECT_TRUE(training.update(1).save.empty());
}

TEST(Carried, KeepsOnAsLongAsWhatItBringsBackGoesInEachStep) {
  Training training{1};
  training.take_away(0);
  training.whole_step();
  for (int step = 0; step < 3; ++step) {
    training.take_away(0);
    training.run_ten(Phase::Forward);
    EXPECT_FALSE(training.run_ten(Phase::Backward).bring.empty()) << step;
    training.bring(0);
    training.update(0);
    EXPECT_EQ(training.update(0).save.size(), 1u) << step;
    training.end_step();
  }
  training.whole_step();
  training.run_ten(Phase::Forward);
  EXPECT_TRUE(training.run_ten(Phase::Backward).bring.empty());
}

TEST(Carried, DoesNotTakeOpsWithoutGradientsBeforeBackwardForUpdates) {
  Training training{1};
  training.take_away(0);
  training.whole_step();
  training.take_away(0);
  training.run_ten(Phase::Forward);
  EXPECT_TRUE(training.run_ten(Phase::Optimizer).bring.empty());
}

}  // namespace
}  // namespace weir::pilot
