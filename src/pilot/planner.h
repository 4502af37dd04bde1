#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "pilot/guide.h"

namespace weir::pilot {

// Makes one plan at a time, beside the program or at once.
class Planner {
 public:
  struct Result {
    std::uint64_t step = 0;              // the digest of the step it is for
    Bytes budget;                        // that the step has
    std::shared_ptr<const Guide> guide;  // null: there is no plan
    Nanos online;                        // as given to start()
  };

  explicit Planner(bool in_background) : in_background_{in_background} {}

  [[nodiscard]] bool busy() const { return job_ != nullptr; }
  // Not while it is busy. A plan must cost less than the step did without.
  void start(const StepLog& step, const Guide::Room& room, Nanos online);
  // What it has finished since.
  [[nodiscard]] std::optional<Result> take();

 private:
  struct Job {
    StepLog step;
    Guide::Room room;
    Result result;
    std::atomic<bool> done{false};

    void run();
  };

  bool in_background_;
  std::shared_ptr<Job> job_;  // also the thread's, which nobody waits for
};

}  // namespace weir::pilot
