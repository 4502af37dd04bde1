#include "pilot/planner.h"

#include <thread>
#include <utility>

#include "weir/errors.h"

namespace weir::pilot {

void Planner::start(const StepLog& step, const Guide::Room& room, Nanos online) {
  job_ = std::make_shared<Job>();
  job_->step = step;
  job_->room = room;
  job_->result = {.step = step.digest(), .budget = room.budget, .guide = nullptr, .online = online};
  if (in_background_)
    std::thread{[job = job_] { job->run(); }}.detach();
  else
    job_->run();
}

// Ops of several threads can be logged in an order that no trace may have: such a step has no plan.
void Planner::Job::run() {
  try {
    std::optional<Guide> guide = Guide::make(step, room);
    if (guide && guide->added() < result.online)
      result.guide = std::make_shared<const Guide>(std::move(*guide));
  } catch (const BadInput&) {
    result.guide = nullptr;
  }
  done.store(true, std::memory_order_release);
}

std::optional<Planner::Result> Planner::take() {
  if (job_ == nullptr || !job_->done.load(std::memory_order_acquire)) return std::nullopt;
  const std::shared_ptr<Job> job = std::move(job_);
  return std::move(job->result);
}

}  // namespace weir::pilot
