#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "libtorch/training.h"
#include "weir/errors.h"

namespace weir::libtorch::test {
namespace {

// The exit code of a child that runs this, or 128 + the signal that ended it.
int in_child(const std::function<int()>& child) {
  const pid_t process = fork();
  if (process == 0) _exit(child());
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

SessionOptions offloading() { return {.budget = 16_MiB, .smallest = 1_B, .recompute = false}; }
SessionOptions evicting() { return {.budget = 16_MiB, .smallest = 1_B, .tier = "none"}; }

torch::Tensor numbers() { return torch::arange(1 << 18, torch::kFloat); }

// Takes the pages of all that was reclaimed, and leaves room for a small result.
torch::Tensor filling() {
  const Bytes logical = stats().logical;
  const Bytes stays = logical - reclaim();
  const std::int64_t floats = (stats().budget - stays - 256_KiB).n / 4;
  return torch::full({floats}, 7.0);
}

void fill_the_budget() { EXPECT_EQ(filling()[-1].item<float>(), 7.0F); }

// What fills it stays, since somebody has its address: nothing that is away fits in.
torch::Tensor keep_the_budget_full() {
  torch::Tensor filler = filling();
  EXPECT_EQ(filler.data_ptr<float>()[0], 7.0F);
  return filler;
}

bool holds_numbers(const torch::Tensor& tensor, float factor = 1) {
  const auto* values = tensor.const_data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); i += 999)
    if (values[i] != factor * static_cast<float>(i)) return false;
  return true;
}

TEST(Fork, AChildReadsWhatIsResident) {
  torch::set_num_threads(1);
  const Session session{evicting()};
  const torch::Tensor x = numbers();
  EXPECT_EQ(in_child([&] { return holds_numbers(x) ? 0 : 1; }), 0);
  EXPECT_EQ(in_child([&] { return x.sum().item<float>() == 0 ? 1 : 0; }), 0);
  EXPECT_TRUE(holds_numbers(x));
}

TEST(Fork, AChildReadsWhatIsOffloadedFromTheTier) {
  torch::set_num_threads(1);
  const Session session{offloading()};
  const torch::Tensor x = numbers(), y = x.mul(2);
  fill_the_budget();
  EXPECT_EQ(in_child([&] { return holds_numbers(y, 2) && holds_numbers(x) ? 0 : 1; }), 0);
  EXPECT_EQ(in_child([&] { return (x + y).sum().item<float>() > 0 ? 0 : 1; }), 0);
  EXPECT_TRUE(holds_numbers(y, 2));
}

TEST(Fork, AChildReadsWhatWasEvictedFromTheTier) {
  torch::set_num_threads(1);
  const Session session{{.budget = 16_MiB, .smallest = 1_B}};
  const torch::Tensor x = numbers(), y = x.mul(2);
  fill_the_budget();
  ASSERT_GT(stats().evictions + stats().offloads, 0u);
  EXPECT_EQ(in_child([&] { return holds_numbers(y, 2) && holds_numbers(x) ? 0 : 1; }), 0);
  EXPECT_EQ(in_child([&] { return (x + y).sum().item<float>() > 0 ? 0 : 1; }), 0);
  EXPECT_TRUE(holds_numbers(y, 2));
}

TEST(Fork, AChildThatReadsWhatIsEvictedIsToldSo) {
  const Session session{evicting()};
  const torch::Tensor x = numbers(), y = x.mul(2);
  torch::Tensor filler = keep_the_budget_full();
  int said[2];
  ASSERT_EQ(pipe(said), 0);
  const int code = in_child([&] {
    dup2(said[1], STDERR_FILENO);
    return holds_numbers(y, 2) ? 0 : 1;
  });
  close(said[1]);
  char text[256] = {};
  EXPECT_GT(read(said[0], text, sizeof text - 1), 0);
  EXPECT_EQ(code, 128 + SIGSEGV);
  EXPECT_THAT(text, testing::HasSubstr("a forked child read a tensor whose bytes are only in"));
  filler.reset();
  EXPECT_TRUE(holds_numbers(y, 2));
}

TEST(Fork, AChildWithHandlersOfItsOwnReadsThroughOps) {
  torch::set_num_threads(1);
  const Session session{offloading()};
  const torch::Tensor x = numbers(), y = x.mul(2);
  fill_the_budget();
  EXPECT_EQ(in_child([&] {
              signal(SIGSEGV, SIG_DFL);
              return y[1000].item<float>() == 2000 && x.data_ptr<float>()[1000] == 1000 ? 0 : 1;
            }),
            0);
}

TEST(Fork, AnOpOnWhatIsEvictedThrowsInAChild) {
  const Session session{evicting()};
  const torch::Tensor x = numbers(), y = x.mul(2);
  const torch::Tensor filler = keep_the_budget_full();
  EXPECT_EQ(in_child([&] {
              try {
                return y.sum().item<float>() > 0 ? 1 : 2;
              } catch (const c10::Error& error) {
                return std::string{error.what()}.starts_with("weir: a forked child") ? 0 : 3;
              }
            }),
            0);
}

TEST(Fork, AChildComputesWithoutABudgetAndLeavesTheParentsAlone) {
  torch::set_num_threads(1);
  const Session session{offloading()};
  const torch::Tensor x = numbers(), y = x.mul(2);
  const Stats before = stats();
  const int code = in_child([&] {
    const torch::Tensor big = torch::ones({16 << 20});  // four times the budget
    x.add_(1);
    return big.sum().item<float>() == 16 << 20 && x[1].item<float>() == 2 ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(stats().committed, before.committed);
  EXPECT_EQ(stats().offloads, before.offloads);
  fill_the_budget();
  EXPECT_TRUE(holds_numbers(x) && holds_numbers(y, 2));
}

TEST(Fork, AChildCannotHoldABudgetOfItsOwn) {
  const Session session{offloading()};
  EXPECT_EQ(in_child([] {
              try {
                const Session own{offloading()};
              } catch (const BadInput&) {
                return 0;
              }
              return 1;
            }),
            0);
}

TEST(Fork, NoLockIsLeftBehind) {
  torch::set_num_threads(1);
  // The first call of an op registers something to be done at the exit, under a lock of the C
  // library's that a fork does not look after.
  const auto work = [](int i) { return torch::full({64, 1024}, i).mul(2); };
  const auto child = [] { return torch::ones({100'000}).sum().item<float>() > 0 ? 0 : 1; };
  work(0);
  child();
  const Session session{{.budget = 4_MiB, .smallest = 1_B}};
  std::atomic<bool> over{false};
  std::thread worker{[&] {
    interpose(true);
    torch::set_num_threads(1);
    std::vector<torch::Tensor> kept;
    for (int i = 0; !over; ++i) {
      kept.push_back(work(i));
      if (kept.size() == 40) kept.clear();
    }
  }};
  const torch::Tensor x = torch::ones({1000});
  for (int i = 0; i < 50; ++i) EXPECT_EQ(in_child(child), 0);
  over = true;
  worker.join();
  EXPECT_EQ(x.sum().item<float>(), 1000);
}

}  // namespace
}  // namespace weir::libtorch::test
