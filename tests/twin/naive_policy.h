#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "twin/naive_graph.h"

namespace weir::twin {

// The policies of the DTR family, straight from the paper: everything is summed up anew for every
// candidate, and scores are compared as fractions.
class NaivePolicy {
 public:
  explicit NaivePolicy(std::string_view name);

  // The last of those with the lowest score; a score of zero ends the search.
  [[nodiscard]] StorageId choose(const NaiveGraph& graph, const std::vector<StorageId>& candidates,
                                 Nanos now) const;

  // DTR's classes of evicted storages need to be told what happens.
  void declared(StorageId storage);
  void restored(const NaiveGraph& graph, StorageId storage);
  void evicted(const NaiveGraph& graph, StorageId storage);

  [[nodiscard]] bool counts_lineage() const;
  [[nodiscard]] static std::vector<std::string_view> names();

 private:
  enum class Cost : std::uint8_t { None, Own, Ancestors, Neighbourhood, Classes };
  struct Kind {
    std::string_view name;
    Cost cost;
    bool by_size, by_staleness;
  };
  static const std::vector<Kind>& kinds();

  struct Score {
    std::int64_t over = 0, under = 0;  // under == 0: infinite
    [[nodiscard]] bool zero() const { return under > 0 && over == 0; }
    [[nodiscard]] bool at_most(const Score& other) const;
  };
  [[nodiscard]] Score score(const NaiveGraph& graph, StorageId storage, Nanos now) const;
  [[nodiscard]] Nanos cost(const NaiveGraph& graph, StorageId storage) const;
  [[nodiscard]] Nanos classes_next_to(const NaiveGraph& graph, StorageId storage) const;

  // Evicted storages that touch. One that comes back takes its cost out, but what it connected
  // stays connected.
  struct Class {
    std::set<StorageId> members;
    Nanos sum;
  };
  [[nodiscard]] bool has_classes() const {
    return kind_ != nullptr && kind_->cost == Cost::Classes;
  }
  [[nodiscard]] std::size_t class_of(StorageId storage) const;

  const Kind* kind_ = nullptr;  // none: lru
  std::vector<Class> classes_;
};

}  // namespace weir::twin
