#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "weir/policy.h"

namespace weir::policy {

// How likely it is that forward reads a storage again that it has not read for some time, as far as
// this program's own reads tell: of those that were read as often and went unread as long, how many
// were read again?
//
// Time does not tell where reads nest, as the skips of a U-Net do: each is longer than any before.
// But they close from the inside out. So where ops of one kind have read again what ops of another
// had read, each time without exception something older, what is older still is likely to be next.
class Rereads {
 public:
  void declare(StorageId storage);
  // Another step: what nests does so anew.
  void begin_forward() { nests_.clear(); }
  // An op of forward reads it.
  void read(const Graph& graph, StorageId storage, const OpRecord& op);
  // Counts those that go unread now; before the first question at this position.
  void survey(const Graph& graph, Nanos position);
  [[nodiscard]] double chance(const Graph& graph, StorageId storage) const;
  // Where forward last read it, or made it.
  [[nodiscard]] Nanos last_read(const Graph& graph, StorageId storage) const;

 private:
  static constexpr std::uint8_t kMostReads = 3;  // more often counts as this often
  // By the number of reads, then by the logarithm of the time since.
  using Counts = std::array<std::array<double, 65>, kMostReads + 1>;
  struct Known {
    Nanos last{-1};
    std::uint8_t reads = 0;
    std::uint64_t reader = 0;  // the last one's kind
  };
  struct Nest {
    Nanos made_at;            // what was read again last
    std::uint32_t depth = 0;  // so often something was
    bool holds = true;        // it was older each time
  };
  using Kinds = std::pair<std::uint64_t, std::uint64_t>;  // of who read it, and who did so again

  void note_nest(const Graph& graph, StorageId storage, Kinds kinds);
  [[nodiscard]] double chance_in_nest(const Graph& graph, StorageId storage) const;

  [[nodiscard]] Known known(StorageId storage) const {
    return index(storage) < known_.size() ? known_[index(storage)] : Known{};
  }

  std::vector<Known> known_;  // by storage
  Counts again_{};            // reads, by how long they were in coming
  Counts waiting_{};          // storages as of the last survey
  Counts chances_{};
  std::map<Kinds, Nest> nests_;
  Nanos position_;
};

}  // namespace weir::policy
