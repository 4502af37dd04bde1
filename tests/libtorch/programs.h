#pragma once

#include <filesystem>
#include <string>

namespace weir::libtorch::test {

struct Outcome {
  int code = -1;  // the exit code, or 128 + the signal that ended it
  std::string out, err;
};

// Runs a line of the shell.
[[nodiscard]] Outcome shell(const std::string& line);

// A folder that is gone after the test.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

[[nodiscard]] std::string content_of(const std::string& path);

}  // namespace weir::libtorch::test
