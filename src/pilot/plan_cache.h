#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "pilot/guide.h"
#include "pilot/trial.h"

namespace weir::pilot {

class ArchiveReader;
class ArchiveWriter;

// The plans of the steps seen last.
class PlanCache {
 public:
  static constexpr std::size_t kMost = 32;

  // Plans for one step: with twice the usual reserve, with that, and then with more margin.
  static constexpr int kUsualReserve = 1;
  struct Entry {
    std::uint64_t step = 0;
    Bytes budget;
    std::shared_ptr<const Guide> guide;  // null: none was found, or none that was worth it
    Nanos online = {};                   // what the step cost without a plan, beside its own time
    Bytes margin = {};                   // of the budget that the plan does not use
    int attempt = kUsualReserve;         // which of the plans for this step was made last
    Trial trial = {};
  };

  // In place of the one for the same step and budget; the one used longest ago goes.
  void add(Entry entry);
  // Null: not known. Counts as a use.
  [[nodiscard]] Entry* find(std::uint64_t step, Bytes budget);
  // The plan used last of those that fit a step that has come this far.
  [[nodiscard]] std::shared_ptr<const Guide> find_for(std::uint32_t op, std::uint64_t digest,
                                                      Bytes budget) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  // For Plans.
  static void fields(ArchiveWriter& archive, const PlanCache& cache);
  static void fields(ArchiveReader& archive, PlanCache& cache);

 private:
  std::list<Entry> entries_;  // the one used last first
};

}  // namespace weir::pilot
