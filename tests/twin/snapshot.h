#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weir/types.h"

namespace weir::twin {

// What the manager and its naive twin must agree on about one storage.
struct StorageLine {
  char where = '?';  // Pending, Resident, Evicted, Offloaded, Dead; of the dead nothing else counts
  bool complete = true, backed = false, homeless = false;
  std::uint32_t pins = 0, references = 0, version = 0, awaited = 0;
  Nanos last_use = {}, cost = {};
  std::vector<std::uint32_t> recipe = {};  // ops of the trace
  std::vector<StorageId> deps = {};        // ascending

  bool operator==(const StorageLine&) const = default;
};

// The whole state after an event, and what happened during it.
struct Snapshot {
  std::string status = "ok";
  Bytes used = {};
  Nanos clock = {}, recompute = {};
  std::uint64_t evictions = 0, releases = 0, recomputes = 0, offloads = 0, fetches = 0;
  std::vector<std::uint32_t> rerun = {};  // ops run again during the event, in order
  std::vector<StorageId> freed = {};    // storages that lost their bytes during the event, in order
  std::vector<StorageId> died = {};     // those that died with their bytes, ascending
  std::vector<StorageId> in_tier = {};  // storages of which the tier has a copy, ascending
  std::vector<StorageId> candidates = {}, spent = {};  // in order
  std::vector<StorageLine> storages = {};
  std::vector<bool> available = {};  // by tensor

  bool operator==(const Snapshot&) const = default;
};

// The lines in which two snapshots differ, one pair of lines each.
[[nodiscard]] std::string difference(const Snapshot& real, const Snapshot& naive);

}  // namespace weir::twin
