#pragma once

#include <cstdint>
#include <vector>

#include "weir/graph.h"
#include "weir/trace.h"

namespace weir::twin {

// What the bytes of every storage would be: a number made from the op that wrote them and the bytes
// it read. An op must read, whenever it runs, what it reads in a run without any manager.
class Contents {
 public:
  explicit Contents(const Trace& trace);

  void add_constant(StorageId storage);
  // The op runs. False if it reads anything else than it should.
  [[nodiscard]] bool run(std::uint32_t op, const Graph& graph);
  // The manager has taken the op as done: what it made is there, unless it was dropped.
  void adopt(const Graph& graph);
  void lose(StorageId storage);

 private:
  struct Made {
    StorageId storage;
    std::uint64_t bytes;
  };
  [[nodiscard]] std::uint64_t read_by(std::uint32_t op) const;
  void change(std::uint32_t op, std::uint64_t read);
  [[nodiscard]] std::uint64_t garbage() { return ++garbage_ | (std::uint64_t{1} << 63); }

  const Trace& trace_;
  std::vector<std::uint64_t> bytes_;     // by storage
  std::vector<std::uint64_t> expected_;  // by op: what it should read
  std::vector<Made> made_;               // by the op that runs now
  std::uint64_t garbage_ = 0;
};

}  // namespace weir::twin
