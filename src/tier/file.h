#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "tier/pages.h"
#include "weir/types.h"

namespace weir::tier {

// A file without a name, so that nothing is left behind however the process ends. What goes through
// it does not stay in the page cache: direct transfers where the file system has them, else the
// cache is emptied after each. Its calls return 0 or an errno; all are safe from any thread, and
// read() from a forked child too.
class File {
 public:
  // Throws BadInput if nothing can be created in the folder, TierError if the world fails.
  File(std::filesystem::path folder, bool want_direct);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  // Makes [from, to) exist, behind what exists. With fallocate the disk cannot be full later.
  [[nodiscard]] int grow(Bytes from, Bytes to);
  // `at` is a multiple of kPage, and up to the next multiple behind its end the range is the
  // caller's: it is written, with zeros, too.
  [[nodiscard]] int write(Bytes at, std::span<const std::byte> from);
  [[nodiscard]] int read(Bytes at, std::span<std::byte> to);

  [[nodiscard]] bool direct() const { return direct_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  bool make_direct();
  int write_pages(Bytes at, std::span<const std::byte> from);
  int read_pages(Bytes at, std::span<std::byte> to);

  std::filesystem::path folder_;
  int fd_;
  bool direct_;
};

}  // namespace weir::tier
