#pragma once

#include <vector>

#include "policy/backward_order.h"
#include "policy/rereads.h"

namespace weir::policy {

// What is evicted and wanted by backward falls into regions: storages that touch, with all that
// they have to be made from. A region comes back as a whole when backward wants the first of it;
// each op runs once if there is room for the region by then, and some run again if there is not.
// The room is what backward lets go of before: the resident storages made after that place.
class Regions {
 public:
  static constexpr std::int32_t kNone = -1;
  struct Region {
    double cost = 0;   // of all it consists of
    double bytes = 0;  // of what the program references
    Nanos first{-1};   // where backward wants the first of it
  };

  // As things are now, in forward. Everything below refers to this moment.
  void survey(const Graph& graph, const BackwardOrder& order, const Rereads& rereads);

  [[nodiscard]] std::int32_t of(StorageId storage) const { return region_[index(storage)]; }
  [[nodiscard]] const Region& operator[](std::int32_t region) const {
    return regions_[static_cast<std::size_t>(region)];
  }
  // What bringing a region back costs in all.
  [[nodiscard]] double restoring(const Region& region) const;
  // 0 while there is as much as is missing of what backward wants; 1 if nothing is.
  [[nodiscard]] double shortage() const { return shortage_; }

 private:
  static constexpr std::int32_t kUnnumbered = -2;
  struct Freed {
    Nanos made_at;
    double bytes;  // of all made there and later
  };

  void find_wanted(const Graph& graph, StorageId storage);
  void find_freed(const Graph& graph, const BackwardOrder& order);
  [[nodiscard]] Region collect(const Graph& graph, StorageId first, const BackwardOrder& order,
                               const Rereads& rereads);
  [[nodiscard]] double room(Nanos place) const;
  [[nodiscard]] double find_shortage() const;

  std::vector<std::int32_t> region_;  // by storage
  std::vector<Region> regions_;
  std::vector<Freed> freed_;  // descending by place
  double shortage_ = 0;
  std::vector<StorageId> work_;
};

// Was it read, but only through views that nobody has any more? Then only the op that made it can
// have saved it, which is rare.
[[nodiscard]] bool hardly_wanted(const Graph& graph, StorageId storage);

}  // namespace weir::policy
