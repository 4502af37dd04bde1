#pragma once

#include <optional>

#include "weir/policy.h"
#include "weir/types.h"

namespace weir {

// Carries out what the manager decides: simulated, or with real kernels and pages.
class Executor {
 public:
  virtual ~Executor() = default;
  [[nodiscard]] virtual Nanos now() const = 0;

  // What follows is called with the manager's lock held: it must not call back.

  // The storage's bytes on the device are given up.
  virtual void evict(StorageId storage) = 0;
  // Copies the storage's bytes to a tier. False: there is no room.
  virtual bool offload(StorageId /*storage*/) { return false; }
  // Copies them back to the device, where they have been charged for. The tier keeps its copy.
  virtual void fetch(StorageId /*storage*/) {}
  // The same beside the program's ops. What is copied to the tier may change meanwhile: the copy is
  // discarded then. What is copied back is charged for from the beginning. False: it did not begin.
  virtual bool begin_offload(StorageId /*storage*/) { return false; }
  virtual bool begin_fetch(StorageId /*storage*/) { return false; }
  // Is the copy that began made? Then to finish it takes no time.
  [[nodiscard]] virtual bool copied(StorageId /*storage*/) const { return true; }
  // The copy is made when it returns. False, or an exception: there is none.
  virtual bool finish_offload(StorageId /*storage*/) { return true; }
  virtual void finish_fetch(StorageId /*storage*/) {}
  // The tier's copy is not needed any more. It may be on its way there.
  virtual void discard_copy(StorageId /*storage*/) {}
  // Where offloaded bytes go; nothing: there is no tier.
  [[nodiscard]] virtual std::optional<Reach> tier() const { return std::nullopt; }
  // The time it takes to offload and fetch this many bytes.
  [[nodiscard]] virtual Nanos transfer_cost(Bytes /*size*/) const { return {}; }
  // The output of an op that was run again became the storage's bytes.
  virtual void adopted(StorageId /*storage*/, std::uint32_t /*output*/) {}
  // The output of an op that was run again is not wanted after all.
  virtual void rejected(std::uint32_t /*output*/) {}
  // The op record with this tag will never be run again.
  virtual void forget(std::uint64_t /*tag*/) {}
  // Nothing refers to the storage any more; its id may be used for another.
  virtual void died(StorageId /*storage*/) {}
};

}  // namespace weir
