#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weir/policy.h"

namespace weir::pilot {

// What forward did since it began. Storages are numbered as it comes to know them.
class ForwardLog {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Read {
    TensorId tensor;
    std::uint32_t number;
  };
  struct Op {
    OpId id;  // while it is on its way
    std::uint64_t kind = 0;
    Nanos cost = {};
    Bytes scratch = {};
    bool changes = false;  // something in place
    std::uint32_t first_read = 0, reads = 0;
    std::uint32_t first_made = 0, made = 0;  // numbers
  };
  struct Known {
    StorageId storage;
    TensorId root;
    Bytes size;
    std::uint32_t maker =
        kNone;  // the op that made it or changed it last; none: it came from outside
  };

  void clear();
  void begin(const Graph& graph, const OpRecord& op, std::span<const std::uint32_t> mutated);
  void declare(const Graph& graph, const OpRecord& op);
  void end(const OpRecord& op, Bytes scratch);
  // Something else has its id now, which forward does not know.
  void forget(StorageId storage);

  [[nodiscard]] std::span<const Op> ops() const { return ops_; }
  [[nodiscard]] std::span<const Known> known() const { return known_; }
  [[nodiscard]] std::span<const Read> reads(const Op& op) const {
    return std::span{reads_}.subspan(op.first_read, op.reads);
  }
  [[nodiscard]] std::uint32_t number_of(StorageId storage) const {
    return index(storage) < numbers_.size() ? numbers_[index(storage)] : kNone;
  }
  // Is it still the one that has its id?
  [[nodiscard]] bool lives(std::uint32_t number) const {
    return number_of(known_[number].storage) == number;
  }

 private:
  std::uint32_t& place_of(StorageId storage);
  std::uint32_t add(const Graph& graph, StorageId storage, std::uint32_t maker);
  [[nodiscard]] Op* find(OpId id);

  std::vector<Op> ops_;
  std::vector<Read> reads_;
  std::vector<Known> known_;            // by number
  std::vector<std::uint32_t> numbers_;  // by storage
};

}  // namespace weir::pilot
