#include "tier/folder.h"

#include <linux/magic.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "weir/errors.h"
#include "weir/tier.h"

namespace weir::tier {
namespace {

// Why no tier can be here; empty if one can.
std::string obstacle(const std::filesystem::path& folder) {
  struct statfs about {};
  if (statfs(folder.c_str(), &about) != 0) return "cannot be used (" + error_text(errno) + ")";
  if (!std::filesystem::is_directory(folder)) return "is not a folder";
  if (about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC) return "is in memory (tmpfs)";
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    return "cannot be written to (" + error_text(errno) + ")";
  return "";
}

}  // namespace

std::filesystem::path default_folder() {
  const char* const chosen = std::getenv("TMPDIR");
  if (chosen != nullptr && *chosen != '\0' && obstacle(chosen).empty()) return chosen;
  return "/var/tmp";
}

void check_folder(const std::filesystem::path& folder) {
  const std::string problem = obstacle(folder);
  if (problem.empty()) return;
  throw BadInput{"tier folder '" + folder.string() + "' " + problem +
                 "; give --tier a folder on a disk that you may write to"};
}

Bytes free_space(const std::filesystem::path& folder) {
  struct statvfs about {};
  if (statvfs(folder.c_str(), &about) != 0) {
    throw TierError{"tier in '" + folder.string() + "': its free space cannot be found out (" +
                    error_text(errno) + "); give its capacity as in PATH:20GiB"};
  }
  const double exact = static_cast<double>(about.f_bavail) * static_cast<double>(about.f_frsize);
  return {static_cast<std::int64_t>(std::min(exact, static_cast<double>(kMostBytes.n)))};
}

std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace weir::tier
