#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "twin/disturbance.h"
#include "weir/trace.h"

namespace weir::twin {

// What the bytes of every storage of a trace would be: a number made from the op that wrote them
// and the bytes it read. An op must read, whenever it runs, what it reads in a run without any
// manager.
class Contents {
 public:
  Contents(const Trace& trace, const std::vector<Disturbance>& disturbances);

  void add_constant(StorageId storage);
  // The op runs. False if it reads anything else than it should.
  [[nodiscard]] bool run(std::uint32_t op);
  // What the op that ran last made for the storage becomes its bytes.
  void adopt(StorageId storage);
  void lose(StorageId storage);
  // Somebody writes whom the manager does not see. False if the bytes were not what they should be.
  [[nodiscard]] bool write(std::size_t disturbance);

  // The tier's copies.
  void copy_to_tier(StorageId storage) { tier_[storage] = bytes_[index(storage)]; }
  void copy_back(StorageId storage) { bytes_[index(storage)] = tier_.at(storage); }
  void discard_copy(StorageId storage) { tier_.erase(storage); }

 private:
  [[nodiscard]] std::uint64_t read_by(std::uint32_t op) const;
  [[nodiscard]] StorageId written_by(std::size_t disturbance) const;
  void change(std::uint32_t op, std::uint64_t read);
  void run_first(std::uint32_t op);
  [[nodiscard]] std::uint64_t garbage() { return ++garbage_ | (std::uint64_t{1} << 63); }

  const Trace& trace_;
  const std::vector<Disturbance>& disturbances_;
  std::vector<std::uint64_t> bytes_;     // by storage
  std::vector<std::uint64_t> expected_;  // by op: what it should read
  std::vector<std::uint64_t> found_;     // by disturbance: what a writer should find
  std::map<StorageId, std::uint64_t> tier_;
  std::uint64_t read_ = 0;  // by the op that ran last
  std::uint64_t garbage_ = 0;
};

}  // namespace weir::twin
