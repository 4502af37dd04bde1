#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "weir/graph.h"
#include "weir/policy.h"

namespace weir::pilot {

// What optimizers keep from step to step. Only a tier can bring it back, and however much the steps
// differ otherwise, each ends with the same updates in the same order. So what was away when its
// update came is copied while others compute: to the tier after its last use in the step, and back
// when backward is nearly through.
class Carried {
 public:
  // An op of the program begins.
  void begin(const Graph& graph, const OpRecord& op);
  void look_ahead(const View& view, Ahead& ahead);
  void end_step(const View& view);

 private:
  struct Uses {
    std::uint32_t step = UINT32_MAX;  // in this step so many
    std::uint32_t now = 0;
    std::uint32_t usual = 0;  // in the step before
    bool goes = false;        // it was away in the step before
    bool brought = false;     // on our advice, in this step
    bool came = false;        // and it was there, or on its way
  };

  Uses& uses_of(StorageId storage);
  void count(const Graph& graph, StorageId storage);
  [[nodiscard]] bool due(const Graph& graph) const;

  std::vector<Uses> uses_;          // by storage
  std::vector<StorageId> updated_;  // by the optimizer in this step, of what was away before
  std::vector<StorageId> awaited_;  // the same of the step before
  std::vector<StorageId> done_;     // used for the last time in this step, and not saved yet
  std::uint32_t step_ = 0;

  // Times of the program's own ops.
  std::optional<Phase> phase_;            // none: the step has not begun
  Nanos forward_, backward_, optimizer_;  // when they began
  Nanos at_;
  double backward_share_ = 0;  // of forward's time, in the step before; 0: not known
  Link link_{};
};

}  // namespace weir::pilot
