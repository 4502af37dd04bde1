#pragma once

#include <sys/types.h>

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "tier/file.h"
#include "tier/link_meter.h"
#include "tier/space.h"
#include "weir/tier.h"

namespace weir::tier {

struct FileTierOptions {
  std::filesystem::path folder = {};   // empty: default_folder()
  std::optional<Bytes> capacity = {};  // nothing: the folder's free space less a tenth
  bool direct = true;                  // false: through the page cache, which is emptied each time
};

// A tier in a file of its own, which has no name and so is gone when the process is. Slots take
// whole pages of it. Transfers are complete when write() and read() return.
class FileTier final : public Tier {
 public:
  // Throws BadInput if the folder or the capacity cannot be used, TierError if the world fails.
  // Sends a few MiB to the disk and back to know the link.
  explicit FileTier(const FileTierOptions& options);

  // A disk that is full throws here rather than in write(), where the file system has fallocate.
  [[nodiscard]] std::optional<Slot> reserve(Bytes size) override;
  void free(Slot slot) override;
  Transfer write(Slot slot, std::span<const std::byte> from) override;
  Transfer read(Slot slot, std::span<std::byte> to) override;
  [[nodiscard]] Bytes capacity() const override;
  [[nodiscard]] Bytes used() const override;
  [[nodiscard]] Link link() const override { return meter_.link(); }

  // False: the file system knows no direct transfers, and each went through the page cache.
  [[nodiscard]] bool direct() const { return file_.direct(); }
  [[nodiscard]] const std::filesystem::path& folder() const { return file_.folder(); }

 private:
  void probe();
  void grow_for(Bytes end);
  void check_reserved(Slot slot, std::size_t memory) const;
  [[nodiscard]] bool in_child() const;
  [[nodiscard]] TierError error(const std::string& what, int error) const;

  const pid_t owner_;
  File file_;
  LinkMeter meter_;
  mutable std::mutex mutex_;  // of the members below; never held during a transfer
  Space space_;
  Bytes file_end_;  // how far the file has grown: every slot in use ends at or before it
};

}  // namespace weir::tier
