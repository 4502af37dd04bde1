#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::trace {

// The contents of a regular file. Throws BadInput "file: what is wrong".
std::vector<char> file_bytes(const std::filesystem::path& path);

[[nodiscard]] bool is_zstd(std::span<const char> bytes);

struct Unfolded {
  std::vector<char> text;  // as far as it goes
  std::string error;       // why it goes no further; empty if it is complete
};

// Decompresses step by step. A file that unfolds to thousands of times its size is a bomb, not a
// trace: that throws BadInput.
Unfolded unfolded(std::span<const char> zstd, std::string_view source);

}  // namespace weir::trace
