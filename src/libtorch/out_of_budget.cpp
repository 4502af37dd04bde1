#include "libtorch/out_of_budget.h"

#include <algorithm>
#include <atomic>

#include <c10/util/Exception.h>

#include "base/units.h"

namespace weir::libtorch {

namespace {
std::atomic<const char*> running_op{nullptr};
}

void set_running_op(const char* name) { running_op.store(name, std::memory_order_relaxed); }

void throw_out_of_budget(const OutOfBudget& error, const Circumstances& known) {
  const char* op = running_op.load(std::memory_order_relaxed);
  std::string text = "weir::OutOfBudget: ";
  text.append(op == nullptr ? "an allocation" : op).append(" needs ");
  text.append(std::to_string(error.need.n)).append(" bytes more, and ");
  text.append(std::to_string(error.held.n)).append(" of the budget of ");
  text.append(std::to_string(error.budget.n));
  text.append(" bytes are held by it or cannot be given up; the smallest budget for this op is ");
  text.append(std::to_string(error.smallest_budget().n)).append(" bytes");
  if (known.step_needs > Bytes{})
    text.append(", for the step, by its trace, at least ")
        .append(std::to_string(std::max(known.step_needs, error.smallest_budget()).n))
        .append(" bytes");
  if (known.tier_full)
    text.append(
        "; the tier could not take all that was to be offloaded: give --tier more room or another "
        "folder");
  TORCH_CHECK_WITH(OutOfMemoryError, false, text);
}

void throw_thrashing(std::uint64_t runs, Bytes budget) {
  const char* op = running_op.load(std::memory_order_relaxed);
  std::string text = "weir::OutOfBudget: to bring back what ";
  text.append(op == nullptr ? "a read" : op).append(" wants, ").append(std::to_string(runs));
  text.append(" ops were run again without an end in sight; the budget of ");
  text.append(std::to_string(budget.n));
  text.append(" bytes leaves too little room to recompute in: raise it, or give a tier");
  TORCH_CHECK_WITH(OutOfMemoryError, false, text);
}

}  // namespace weir::libtorch
