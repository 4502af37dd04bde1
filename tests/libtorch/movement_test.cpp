// Tensors that go for the sake of an op come back at other addresses, and nobody notices.
#include <gmock/gmock.h>

#include <thread>

#include "libtorch/training.h"

namespace weir::libtorch::test {
namespace {

void* address_of(const torch::Tensor& tensor) {
  return tensor.storage().unsafeGetStorageImpl()->_mutable_data_ptr_no_checks().get();
}

class Movement : public testing::Test {
 protected:
  static constexpr std::int64_t kCount = 1 << 18;

  // Ops that need all but what they read themselves, so that everything else goes.
  void press() {
    const torch::Tensor source = torch::ones({kCount}).add(1);
    std::vector<torch::Tensor> all;
    for (int i = 0; i < 24; ++i) all.push_back(source.add(i));
    float expected = 2;
    for (const torch::Tensor& one : all) ASSERT_EQ(one[kCount - 1].item<float>(), expected++);
  }

  static void expect_twice(const torch::Tensor& y) {
    for (std::int64_t i = 0; i < kCount; i += 5000)
      ASSERT_EQ(y[i].item<float>(), 2.0F * static_cast<float>(i));
  }

  Session session_{{.budget = 16_MiB, .smallest = 1_B, .tier = "none", .move_addresses = true}};
  torch::Tensor x_ = torch::arange(kCount, torch::kFloat).add(0);
  torch::Tensor y_ = x_.mul(2);
};

TEST_F(Movement, WhatWentComesBackElsewhere) {
  const torch::Tensor view = y_.narrow(0, 10, 20);
  void* before = address_of(y_);
  press();
  EXPECT_NE(address_of(y_), before);  // nothing is there as long as it is away
  expect_twice(y_);
  EXPECT_EQ(address_of(view), address_of(y_));
  EXPECT_EQ(view[0].item<float>(), 20);
  EXPECT_GT(stats().moved, 0U);
  EXPECT_EQ(stats().faults, 0U);
  EXPECT_LE(stats().peak, 16_MiB);
}

TEST_F(Movement, WhatIsAwayFaultsAndThenStays) {
  press();
  const auto* y = static_cast<const float*>(address_of(y_));
  for (std::int64_t i = 0; i < kCount; i += 1000) ASSERT_EQ(y[i], 2.0F * static_cast<float>(i));
  EXPECT_GT(stats().faults, 0U);
  step();
  press();
  for (std::int64_t i = 0; i < kCount; i += 1000) ASSERT_EQ(y[i], 2.0F * static_cast<float>(i));
  EXPECT_EQ(address_of(y_), y);
}

TEST_F(Movement, AnAddressToWriteToStays) {
  auto* y = y_.data_ptr<float>();
  press();
  EXPECT_EQ(address_of(y_), y);
  y[5] = 1000;
  press();
  EXPECT_EQ(y_[5].item<float>(), 1000);
}

TEST_F(Movement, FewWholeNumbersStay) {
  const torch::Tensor lengths = torch::arange(1000).add(1);
  const auto* raw = lengths.const_data_ptr<std::int64_t>();
  press();
  EXPECT_EQ(raw[999], 1000);
  EXPECT_EQ(address_of(lengths), raw);
}

TEST_F(Movement, WhatIsSharedUntilItIsWrittenToStays) {
  torch::Tensor z = at::_lazy_clone(y_);
  press();
  expect_twice(z);
  z.add_(1);
  press();
  expect_twice(y_);
  EXPECT_EQ(z[7].item<float>(), 15);
}

TEST_F(Movement, AStorageMayDieOrGetOtherBytesWhileItsOwnAreAway) {
  torch::Tensor z = y_.add(1), other = y_.add(2);
  press();
  z.reset();
  other.resize_({2 * kCount}).fill_(3);
  press();
  EXPECT_EQ(other[kCount].item<float>(), 3);
  expect_twice(y_);
}

// It sees the thread allocate, and leaves alone what it might be reading until two steps have
// ended.
TEST_F(Movement, RestsWhileAThreadThatIsNotFollowedComputes) {
  std::thread{[&] { EXPECT_EQ(y_.sum().item<float>(), x_.sum().item<float>() * 2); }}.join();
  press();
  EXPECT_EQ(stats().moved, 0U);
  expect_twice(y_);
  step();
  step();
  press();
  EXPECT_GT(stats().moved, 0U);
  expect_twice(y_);
}

TEST(MovementInTraining, GivesTheSameBits) {
  const auto stock = train();
  const Bytes peak = peak_of([] { train(); });
  for (const char* tier : {"none", ""}) {
    const Session session{
        {.budget = {peak.n * 7 / 10}, .smallest = 1_B, .tier = tier, .move_addresses = true}};
    EXPECT_EQ(train(4, 1, [] { step(); }), stock);
    EXPECT_GT(stats().moved, 0U);
    EXPECT_LE(stats().peak, stats().budget);
  }
}

TEST(MovementInTraining, IsOffUnlessTheProgramAllowsIt) {
  const auto stock = train();
  const Bytes peak = peak_of([] { train(); });
  const Session session{{.budget = {peak.n * 7 / 10}, .smallest = 1_B}};
  EXPECT_EQ(train(4, 1, [] { step(); }), stock);
  EXPECT_GT(stats().evictions, 0U);
  EXPECT_EQ(stats().moved, 0U);
}

}  // namespace
}  // namespace weir::libtorch::test
