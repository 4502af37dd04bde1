#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "pilot/forward_log.h"

namespace weir::pilot {

// What the backward of each op of forward will read of what the op read and made: what autograd
// saved for it. Nobody says so; but what is saved is referred to, and ops of a kind save the same.
//   - What nobody refers to any more was not saved. An op that reads through a view saves the view.
//   - A kind of op that has let go of half of what it read, or more, saves nothing of what it
//   reads.
//   - A kind of op saves its result if mostly it is referred to more often than those who read it
//     explain; and what nobody else can have saved, its maker did.
class Saved {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  Saved(const Graph& graph, const ForwardLog& log);

  // Numbers that the op's backward reads.
  [[nodiscard]] std::span<const std::uint32_t> by(std::uint32_t op) const { return by_op_[op]; }
  // Backward has come to this op of forward and reads these: the op it is at then. The next one
  // that wants them all; if there is none, one of them; kNone: nobody wants any.
  [[nodiscard]] std::uint32_t reached(std::span<const std::uint32_t> numbers,
                                      std::uint32_t from) const;

 private:
  struct Count {
    std::uint32_t yes = 0, no = 0;
  };
  using Counts = std::unordered_map<std::uint64_t, Count>;

  [[nodiscard]] bool alive(std::uint32_t number) const;
  [[nodiscard]] std::uint32_t references(std::uint32_t number) const;
  [[nodiscard]] bool saves(const ForwardLog::Op& op, const ForwardLog::Read& read) const;
  void count_reads();
  void count_results();
  void add(std::uint32_t op, std::uint32_t number);

  const Graph& graph_;
  const ForwardLog& log_;
  Counts reads_, results_;                             // by kind
  std::vector<std::uint32_t> explained_;               // by number: references of those who read it
  std::vector<std::vector<std::uint32_t>> by_op_;      // numbers
  std::vector<std::vector<std::uint32_t>> by_number_;  // ops, ascending
};

}  // namespace weir::pilot
