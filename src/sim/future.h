#pragma once

#include <vector>

#include "weir/predictor.h"
#include "weir/trace.h"

namespace weir::sim {

// The oracle: next uses taken from the trace. A kept result counts as used where it is kept.
class TraceFuture final : public Predictor {
 public:
  explicit TraceFuture(const Trace& trace);

  // The event that happens now; earlier uses are past.
  void advance(std::size_t event) { event_ = event; }
  [[nodiscard]] std::uint64_t next_use(StorageId storage) const override;

 private:
  std::vector<std::uint32_t> first_;  // by storage: its uses are uses_ from here to the next's
  std::vector<std::uint32_t> uses_;   // events, ascending within a storage
  std::size_t event_ = 0;
};

}  // namespace weir::sim
