#pragma once

#include <filesystem>
#include <string>

namespace weir::test {

struct Outcome {
  int code = -1;  // the exit code, or 128 + the signal that ended it
  std::string out, err;
};

// Runs a script of the shell, with nothing to read.
[[nodiscard]] Outcome shell(const std::string& script);

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

}  // namespace weir::test
