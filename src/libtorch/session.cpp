// What weir/torch.h offers.
#include "weir/torch.h"

#include "libtorch/key.h"
#include "libtorch/runtime.h"
#include "libtorch/start.h"
#include "weir/errors.h"

namespace weir {

namespace {

std::atomic<bool> in_session{false};

libtorch::RunOptions run_options(const SessionOptions& options) {
  libtorch::RunOptions run;
  run.budget = options.budget;
  run.fraction = options.fraction;
  run.peak = options.peak;
  run.trace = options.trace;
  if (!options.policy.empty()) run.policy = options.policy;
  if (options.smallest > Bytes{}) run.smallest = options.smallest;
  run.recompute = options.recompute;
  run.tier = options.tier;
  run.plans = options.plans;
  run.addresses = options.move_addresses ? libtorch::Addresses::Move : libtorch::Addresses::Keep;
  return run;
}

}  // namespace

Session::Session(const SessionOptions& options) : interposed_before_{libtorch::interpose(false)} {
  if (in_session.exchange(true))
    throw BadInput{"a weir::Session is alive already, and there can be only one; end that first"};
  try {
    libtorch::begin(run_options(options));
  } catch (const TierError& error) {
    in_session = false;
    throw BadInput{error.what()};
  } catch (...) {
    in_session = false;
    throw;
  }
}

Session::~Session() {
  libtorch::interpose(interposed_before_);
  libtorch::Runtime::get().stop();
  in_session = false;
}

void step() { libtorch::Runtime::get().step(); }

bool interpose(bool on) { return libtorch::interpose(on); }

Bytes reclaim(Bytes size) { return libtorch::Runtime::get().reclaim(size); }

Stats stats() {
  const libtorch::Stats s = libtorch::Runtime::get().stats();
  return {.budget = s.budget,
          .logical = s.logical,
          .logical_peak = s.logical_peak,
          .committed = s.committed,
          .peak = s.peak,
          .foreign = s.foreign,
          .offloaded = s.offloaded,
          .fetched = s.fetched,
          .steps = s.steps,
          .ops = s.ops,
          .evictions = s.counters.evictions,
          .recomputes = s.counters.recomputes,
          .offloads = s.counters.offloads,
          .fetches = s.counters.fetches,
          .faults = s.faults,
          .escapes = s.escapes,
          .moved = s.moved,
          .recompute = s.recompute,
          .offload = s.offload,
          .fetch = s.fetch,
          .elapsed = s.elapsed};
}

}  // namespace weir
