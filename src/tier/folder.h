#pragma once

#include <filesystem>
#include <string>

#include "weir/types.h"

namespace weir::tier {

// $TMPDIR if a tier's file could be in it, else /var/tmp.
[[nodiscard]] std::filesystem::path default_folder();

// Throws BadInput unless it is a folder that may be written to and is on a disk: tmpfs and ramfs
// are memory, and to offload into them would only hide what is used.
void check_folder(const std::filesystem::path& folder);

// What its file system has left for us.
[[nodiscard]] Bytes free_space(const std::filesystem::path& folder);

// "No space left on device"; safe from any thread.
[[nodiscard]] std::string error_text(int error);

}  // namespace weir::tier
