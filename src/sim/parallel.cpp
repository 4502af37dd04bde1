#include "sim/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace weir::sim {

namespace {

class Work {
 public:
  Work(std::size_t all, const std::function<void(std::size_t)>& work, const Progress& progress)
      : all_{all}, work_{work}, progress_{progress} {}

  void take_until_done() {
    try {
      for (std::size_t at = next_++; at < all_; at = next_++) {
        work_(at);
        report();
      }
    } catch (...) {
      next_ = all_;
      const std::lock_guard lock{mutex_};
      if (!failure_) failure_ = std::current_exception();
    }
  }

  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void report() {
    const std::lock_guard lock{mutex_};
    ++done_;
    if (progress_) progress_(done_, all_);
  }

  const std::size_t all_;
  const std::function<void(std::size_t)>& work_;
  const Progress& progress_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;  // guards what follows
  std::size_t done_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

void run_parallel(std::size_t all, unsigned jobs, const std::function<void(std::size_t)>& work,
                  const Progress& progress) {
  Work shared{all, work, progress};
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min<std::size_t>(jobs, all); ++i)
      threads.emplace_back([&shared] { shared.take_until_done(); });
    shared.take_until_done();
  }
  shared.rethrow_failure();
}

}  // namespace weir::sim
