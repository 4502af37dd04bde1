// What a schedule on several devices may and may not do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/device_verify.h"
#include "trace/graph_program.h"

namespace weir::plan::test {
namespace {

using testing::ElementsAre;

// first -> second -> third, which also reads first; 2 bytes each. On `near` ops take 1 ns, on `far`
// 10; copies take 3 ns to `far` and 5 back.
class DeviceVerify : public testing::Test {
 protected:
  DeviceVerify() {
    const std::vector<trace::GraphNode> nodes{{"first", Phase::Forward, {1}, {2}, {}},
                                              {"second", Phase::Forward, {1}, {2}, {0}},
                                              {"third", Phase::Forward, {1}, {2}, {0, 1}}};
    const std::vector<std::uint32_t> order{0, 1, 2};
    problem_ = problem_of(trace::program_of(nodes, order, ViewRule::Rerun, "three"));
    devices_.all = {{"near", {6}, {{1}, {1}, {1}}}, {"far", {6}, {{10}, {10}, {10}}}};
    devices_.lanes = {std::nullopt, Lane{{1}, 1.0}, Lane{{3}, 1.0}, std::nullopt};
  }

  static DeviceAction run(std::uint32_t op, DeviceId device) {
    return {DeviceMove::Compute, op, device};
  }
  static DeviceAction copy(std::uint32_t storage, DeviceId from, DeviceId to) {
    return {DeviceMove::Copy, storage, to, from};
  }
  static DeviceAction evict(std::uint32_t storage, DeviceId device) {
    return {DeviceMove::Evict, storage, device};
  }

  [[nodiscard]] DeviceVerdict verdict(std::vector<DeviceAction> actions) const {
    return verify(problem_, devices_, {problem_.signatures, std::move(actions)});
  }
  [[nodiscard]] std::string violation(std::vector<DeviceAction> actions) const {
    return verdict(std::move(actions)).violation.value_or("none");
  }

  static constexpr DeviceId kNear{0}, kFar{1};
  Problem problem_;
  Devices devices_;
};

TEST_F(DeviceVerify, AddsUpOpsAndCopies) {
  const DeviceVerdict right = verdict({run(0, kNear), copy(0, kNear, kFar), run(1, kFar),
                                       copy(1, kFar, kNear), evict(0, kFar), run(2, kNear)});
  EXPECT_EQ(right.violation, std::nullopt);
  EXPECT_EQ(right.cost, (Nanos{1 + 3 + 10 + 5 + 1}));
  EXPECT_THAT(right.peaks, ElementsAre(Bytes{6}, Bytes{4}));
}

TEST_F(DeviceVerify, WantsInputsWhereAnOpRuns) {
  EXPECT_EQ(violation({run(0, kNear), run(1, kFar)}),
            "op 1 (second) runs on far and reads storage 0, which is not there");
  EXPECT_EQ(violation({run(0, kNear), copy(0, kNear, kFar), evict(0, kNear), run(1, kNear)}),
            "op 1 (second) runs on near and reads storage 0, which is not there");
}

TEST_F(DeviceVerify, CountsTheBytesOfEachDevice) {
  devices_.all[1].budget = {3};
  EXPECT_EQ(violation({run(0, kNear), copy(0, kNear, kFar), run(1, kFar)}),
            "the bytes on far at op 1 (second) need 4 B, 1 B more than its budget");
  devices_.all[1].budget = {1};
  EXPECT_EQ(violation({run(0, kNear), copy(0, kNear, kFar)}),
            "the bytes on far at op 1 (second) need 2 B, 1 B more than its budget");
  devices_.all[0].budget = {5};
  EXPECT_EQ(violation({run(0, kNear), run(1, kNear), run(2, kNear)}),
            "the bytes on near at op 2 (third) need 6 B, 1 B more than its budget");
}

TEST_F(DeviceVerify, CopiesWhatIsThereAlongALink) {
  EXPECT_EQ(violation({copy(0, kNear, kFar)}), "storage 0 is copied from near and is not there");
  EXPECT_EQ(violation({run(0, kNear), copy(0, kNear, kFar), copy(0, kNear, kFar)}),
            "storage 0 is copied to far and is there");
  devices_.lanes[1].reset();
  EXPECT_EQ(violation({run(0, kNear), copy(0, kNear, kFar)}),
            "nothing can be copied from near to far");
}

TEST_F(DeviceVerify, KeepsTheOrderOfFirstRuns) {
  EXPECT_EQ(violation({run(1, kNear)}), "op 1 (second) runs before op 0 (first) has");
  EXPECT_EQ(violation({run(0, kNear), run(1, kNear)}), "op 2 (third) never runs");
  EXPECT_EQ(
      verdict({run(0, kNear), run(0, kFar), run(1, kFar), evict(0, kNear), run(2, kFar)}).cost,
      (Nanos{31}));
}

TEST_F(DeviceVerify, HasWhatIsHeldSomewhere) {
  problem_.values[0].first_held = 1;
  problem_.values[0].end_held = 3;
  EXPECT_EQ(violation({run(0, kNear), copy(0, kNear, kFar), run(1, kNear), evict(0, kNear),
                       copy(0, kFar, kNear), run(2, kNear)}),
            "none");
  EXPECT_EQ(violation({run(0, kNear), copy(0, kNear, kFar), run(1, kNear), evict(0, kNear),
                       evict(0, kFar)}),
            "storage 0 is evicted before op 2 (third) and must stay somewhere");
  EXPECT_EQ(violation({run(0, kNear), evict(0, kNear), run(1, kFar)}),
            "storage 0 must be somewhere at op 1 (second) and is not");
}

TEST_F(DeviceVerify, RefusesWhatDoesNotExist) {
  EXPECT_EQ(violation({run(7, kNear)}), "there is no op 7");
  EXPECT_EQ(violation({run(0, DeviceId{2})}), "there is no such device");
  EXPECT_EQ(violation({copy(9, kNear, kFar)}), "there is no storage 9");
  EXPECT_EQ(violation({evict(0, kNear)}), "storage 0 is evicted from near and not there");
  EXPECT_EQ(verify(problem_, devices_, {}).violation,
            "the trace has 3 ops and the schedule is for 0");
}

}  // namespace
}  // namespace weir::plan::test
