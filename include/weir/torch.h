#pragma once

#include <cstdint>
#include <string>

#include "weir/types.h"

#define WEIR_EXPORT __attribute__((visibility("default")))

// Weir for programs that use libtorch. Link Weir::weir_torch; PyTorch's headers are not needed
// here.
//
//   using namespace weir::literals;
//   weir::Session session{{.budget = 2_GiB}};
//   for (...) {
//     net->forward(batch).backward();
//     optimizer.step();
//     weir::step();
//   }
namespace weir {

struct SessionOptions {
  Bytes budget{};           // zero: see fraction
  double fraction = 0;      // of what the program would need without a budget
  Bytes peak{};             // what it would need, if that is known; zero: learned in the first step
  std::string trace = {};   // of the same program, if there is one: tells the peak, and more
  std::string policy = {};  // who chooses what goes; empty: the default one
  Bytes smallest{};         // tensors below this size stay; zero: the default
  bool recompute = true;    // may evict; false: only offloads
  std::string tier = {};    // FOLDER[:SIZE] for offloading, or "none"; empty: the default folder
  std::string plans = {};   // file of plans: read if it is there, written at the end; empty: none
  // May a tensor whose bytes went come back at another address? That is faster. Only a program that
  // keeps no pointer to read from (const_data_ptr, accessors of const) from one op to the next can
  // allow it; pointers to write to are seen, and hold their tensor where it is.
  bool move_addresses = false;
};

// Tensors are held to the budget while it lives; one at a time. Ops are followed on the thread that
// makes it, which must destroy it too, and on the threads that call interpose(true).
//
// An op that cannot be run inside the budget throws c10::OutOfMemoryError with a text that begins
// with "weir::OutOfBudget" and says what is missing. The program may go on after it.
class WEIR_EXPORT Session {
 public:
  // Throws BadInput (weir/errors.h). No other thread may use PyTorch meanwhile.
  explicit Session(const SessionOptions& options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  // Tensors whose bytes are away keep them there until they are touched.
  ~Session();

 private:
  bool interposed_before_;
};

// A training step is over: what happened in it will not be undone. Saying it at the wrong moment
// costs time, never numbers.
WEIR_EXPORT void step();

// Follows the ops of the calling thread, or no longer; returns what was the case. A thread that was
// not told is not followed: what it allocates counts, but is not given up.
WEIR_EXPORT bool interpose(bool on);

// Evicts or offloads now: so many bytes, or all that can go. Says how many went.
WEIR_EXPORT Bytes reclaim(Bytes size = kMostBytes);

// Since the session began.
struct Stats {
  Bytes budget;
  Bytes logical, logical_peak;  // what the program would hold without a budget
  Bytes committed, peak;        // what it holds
  Bytes foreign;                // of it, memory that others gave to PyTorch
  Bytes offloaded, fetched;
  std::uint64_t steps = 0, ops = 0;
  std::uint64_t evictions = 0, recomputes = 0, offloads = 0, fetches = 0;
  std::uint64_t faults = 0;   // raw reads that brought bytes back
  std::uint64_t escapes = 0;  // tensors whose address somebody asked for
  std::uint64_t moved = 0;    // how often a tensor got another address
  Nanos recompute, offload, fetch, elapsed;
};
[[nodiscard]] WEIR_EXPORT Stats stats();

}  // namespace weir
