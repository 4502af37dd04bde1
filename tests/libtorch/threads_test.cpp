#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <thread>

#include "libtorch/training.h"

namespace weir::libtorch::test {
namespace {

// A program that draws from no generator of the process, so that threads do not disturb each other.
std::string walk(std::uint64_t seed) {
  auto draws = at::detail::createCPUGenerator(seed);
  torch::Tensor w = torch::randn({128, 128}, draws).requires_grad_();
  std::string all;
  for (int step = 0; step < 6; ++step) {
    torch::Tensor x = torch::randn({256, 128}, draws);
    for (int layer = 0; layer < 12; ++layer) x = (x.mm(w) * 0.05).tanh();
    const torch::Tensor loss = x.pow(2).mean();
    loss.backward();
    {
      const torch::NoGradGuard no_grad;
      w -= 0.1 * w.grad();
      w.mutable_grad().reset();
    }
    all += bits(loss);
  }
  return all + bits(w);
}

TEST(Threads, ThatAreInterposedOnShareTheBudget) {
  torch::set_num_threads(1);
  const std::string stock[] = {walk(1), walk(2)};
  const Session session{{.budget = 2_MiB, .smallest = 1_B}};
  std::string held[2];
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&held, i] {
      interpose(true);
      torch::set_num_threads(1);
      held[i] = walk(static_cast<std::uint64_t>(i + 1));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(held[0], stock[0]);
  EXPECT_EQ(held[1], stock[1]);
  EXPECT_LE(stats().peak, 2_MiB);
  EXPECT_GT(stats().evictions, 0U);
}

TEST(Threads, OfAnotherKindSeeTheSameTensors) {
  const Session session{{.budget = 64_MiB, .smallest = 1_B}};
  const torch::Tensor x = torch::arange(1 << 16, torch::kFloat);
  const torch::Tensor y = x.mul(3);
  EXPECT_GT(reclaim(), 0_B);
  float sum = 0;
  std::thread{[&] { sum = y.sum().item<float>(); }}.join();  // not interposed on
  EXPECT_EQ(sum, y.sum().item<float>());
}

// Both run at once. They wait for each other where they `meet`, in a way that orders nothing else:
// the thread sanitizer sees every access that only luck kept apart. Nobody waits for one that
// failed.
class Pair {
 public:
  Pair(const std::function<void()>& first, const std::function<void()>& second) {
    failed_ = false;
    const std::jthread other{[&] { run(second); }};
    run(first);
  }
  static void meet() {
    const int round = met_.fetch_add(1, std::memory_order_relaxed) / 2;
    while (met_.load(std::memory_order_relaxed) / 2 == round && !failed_) std::this_thread::yield();
  }

 private:
  static void run(const std::function<void()>& one) {
    interpose(true);
    torch::set_num_threads(1);
    try {
      one();
    } catch (const std::exception& error) {
      failed_ = true;
      ADD_FAILURE() << error.what();
    }
  }
  inline static std::atomic<int> met_{0};
  inline static std::atomic<bool> failed_{false};
};

TEST(Threads, LetGoOfWhatOthersEvict) {
  torch::set_num_threads(1);
  const Session session{{.budget = 4_MiB, .smallest = 1_B}};
  constexpr int kRounds = 100;
  Pair{[] {
         for (int round = 0; round < kRounds; ++round) {
           std::vector<torch::Tensor> kept;
           for (int i = 0; i < 64; ++i) kept.push_back(torch::full({16, 1024}, 1.0));
           Pair::meet();
         }
       },
       [] {
         for (int round = 0; round < kRounds; ++round) {
           Pair::meet();
           torch::ones({1000, 1024});
         }
       }};
  EXPECT_TRUE(stats().evictions > 0 || stats().offloaded > 0_B);
}

TEST(Threads, MeetTensorsThatNoOpHasSeen) {
  torch::set_num_threads(1);
  const Session session{{.budget = 64_MiB, .smallest = 1_B}};
  std::vector<torch::Tensor> made;
  interpose(false);
  for (int i = 0; i < 200; ++i) made.push_back(torch::full({32, 1024}, 1.0 * i));
  interpose(true);
  double sums[2] = {};
  const auto add_up = [&made](double& sum) {
    Pair::meet();
    for (const torch::Tensor& one : made) sum += one.mean().item<double>();
  };
  Pair{[&] { add_up(sums[0]); }, [&] { add_up(sums[1]); }};
  EXPECT_EQ(sums[0], 19'900);
  EXPECT_EQ(sums[1], 19'900);
}

TEST(Threads, ShareWeightsThatStayTheManagers) {
  torch::set_num_threads(1);
  const Session session{{.budget = 4_MiB, .smallest = 1_B}};
  std::vector<torch::Tensor> weights;
  for (int i = 0; i < 8; ++i) weights.push_back(torch::full({128, 128}, 1.0 / 128));
  const auto walk_through = [&weights] {
    const torch::NoGradGuard no_grad;
    Pair::meet();
    for (int round = 0; round < 200; ++round) {
      torch::Tensor x = torch::ones({64, 128});
      for (const torch::Tensor& w : weights) x = x.mm(w);
      EXPECT_EQ(x[0][0].item<float>(), 1);
    }
  };
  Pair{walk_through, walk_through};
  EXPECT_EQ(stats().escapes, 0U);
}

torch::Tensor leaf(at::IntArrayRef size, std::uint64_t seed) {
  return torch::randn(size, at::detail::createCPUGenerator(seed)).requires_grad_();
}

std::vector<std::string> attend(int rounds) {
  torch::Tensor q = leaf({2, 4, 256, 32}, 1), k = leaf({2, 4, 256, 32}, 2),
                v = leaf({2, 4, 256, 32}, 3);
  for (int round = 0; round < rounds; ++round) {
    torch::Tensor x = q;
    for (int layer = 0; layer < 4; ++layer)
      x = torch::scaled_dot_product_attention(x, k, v, {}, 0.0, true).tanh();
    x.sum().backward();
  }
  return {bits(q.grad()), bits(k.grad()), bits(v.grad())};
}

TEST(Threads, WorkersOfAttentionsBackwardAllocate) {
  torch::set_num_threads(2);
  const auto stock = attend(3);
  const Bytes peak = peak_of([] { attend(3); });
  const Bytes budget{peak.n * 7 / 10};
  const Session session{{.budget = budget, .smallest = 1_B}};
  EXPECT_EQ(attend(3), stock);
  EXPECT_LE(stats().peak, budget);
}

std::vector<std::string> differentiate_twice() {
  torch::Tensor x = leaf({64, 128}, 4), w = leaf({128, 128}, 5);
  torch::Tensor y = x;
  for (int layer = 0; layer < 8; ++layer) y = (y.mm(w) * 0.1).tanh();
  const auto first = torch::autograd::grad({y.sum()}, {x, w}, {}, true, true);
  (first[0].pow(2).sum() + first[1].pow(2).sum()).backward();
  return {bits(x.grad()), bits(w.grad())};
}

TEST(Threads, DoubleBackwardGivesTheSameBits) {
  torch::set_num_threads(2);
  const auto stock = differentiate_twice();
  const Bytes peak = peak_of([] { differentiate_twice(); });
  for (const int percent : {80, 60, 45}) {
    const Session session{{.budget = {peak.n * percent / 100}, .smallest = 1_B}};
    EXPECT_EQ(differentiate_twice(), stock) << percent;
  }
}

}  // namespace
}  // namespace weir::libtorch::test
