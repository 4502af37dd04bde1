#pragma once

#include <vector>

#include "plan/retention.h"

namespace weir::plan {

// Carries stages out one after the other and writes down what happens. What runs and what goes when
// is for those who derive from it.
class PlanWriter {
 public:
  Plan write(Bytes budget) &&;

 protected:
  explicit PlanWriter(const Problem& problem)
      : problem_{problem}, now_(problem.storages.size(), kNoValue) {}
  ~PlanWriter() = default;

  // What is there at the start, and what of it goes before anything runs.
  virtual void begin() = 0;
  virtual void run_stage() = 0;
  virtual void finish() {}
  virtual void came(StorageId /*storage*/) {}
  virtual void changed(StorageId /*storage*/) {}  // in place

  void compute(std::uint32_t op);
  void put(ValueId value, std::uint32_t op);
  void evict(StorageId storage);

  const Problem& problem_;
  std::vector<ValueId> now_;  // by storage: the version that is there
  Stage stage_ = 0;
  Plan plan_;

 private:
  void adopt(ValueId value, std::uint32_t op);
  void note_peak(Bytes bytes, std::uint32_t op);

  Bytes used_;
};

}  // namespace weir::plan
