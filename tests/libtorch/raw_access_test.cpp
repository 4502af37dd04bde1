#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>

#include "libtorch/training.h"

namespace weir::libtorch::test {
namespace {

class RawAccess : public testing::Test {
 protected:
  static constexpr std::int64_t kCount = 1 << 18;

  // The pages of what was reclaimed are still there until somebody needs them.
  static void evict_all() {
    const Bytes freed = reclaim();
    const Bytes stay = stats().logical + stats().foreign - freed;
    const Bytes room = 16_MiB - stay - 128_KiB;
    const torch::Tensor other = torch::full({room.n / 4}, 7.0);
    ASSERT_EQ(other[-1].item<float>(), 7.0F);
  }

  Session session_{{.budget = 16_MiB, .smallest = 1_B, .tier = "none"}};
  torch::Tensor x_ = torch::arange(kCount, torch::kFloat);
  torch::Tensor y_ = x_.mul(2);
};

TEST_F(RawAccess, BringsTheBytesBack) {
  const auto* y = y_.const_data_ptr<float>();
  evict_all();
  for (std::int64_t i = 0; i < kCount; i += 1000) ASSERT_EQ(y[i], 2.0F * static_cast<float>(i));
  EXPECT_GT(stats().faults, 0U);
}

TEST_F(RawAccess, BringsThemBackForWorkersOfOpenMp) {
  torch::set_num_threads(2);
  const auto* y = y_.const_data_ptr<float>();
  evict_all();
  std::atomic<int> wrong{0};
  at::parallel_for(0, kCount, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      if (y[i] != 2.0F * static_cast<float>(i)) ++wrong;
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(stats().faults, 0U);
}

TEST_F(RawAccess, WhoMayWriteUnseenMakesWhatWasMadeSafe) {
  auto* x = x_.data_ptr<float>();
  evict_all();
  x[5] = 1000;
  EXPECT_EQ(y_[5].item<float>(), 10);
  evict_all();
  EXPECT_EQ(y_[5].item<float>(), 10);
  EXPECT_EQ(x_[5].item<float>(), 1000);
  EXPECT_EQ(x_.mul(2)[5].item<float>(), 2000);
  EXPECT_GT(stats().escapes, 0U);
}

TEST_F(RawAccess, AWriteBeforeAnythingIsAwayCounts) {
  x_.data_ptr<float>()[7] = 50;
  const torch::Tensor z = x_.add(1);
  evict_all();
  x_.data_ptr<float>()[7] = 60;
  EXPECT_EQ(z[7].item<float>(), 51);
  EXPECT_EQ(y_[7].item<float>(), 14);
}

TEST_F(RawAccess, MemoryOfOthersIsNotTouched) {
  std::vector<float> own(kCount, 3);
  const torch::Tensor theirs = torch::from_blob(own.data(), {kCount});
  const torch::Tensor z = theirs.mul(2);
  own[9] = 100;
  evict_all();
  EXPECT_EQ(z[9].item<float>(), 6);
  EXPECT_EQ(stats().foreign, Bytes{kCount * 4});
}

TEST_F(RawAccess, AFaultThatIsNotOursEndsTheProcess) {
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  EXPECT_EXIT(*static_cast<volatile int*>(page) = 1, testing::KilledBySignal(SIGSEGV), "");
  munmap(page, 4096);
}

}  // namespace
}  // namespace weir::libtorch::test
