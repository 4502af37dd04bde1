#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

namespace weir::app::test {

struct Outcome {
  int code = -1;  // the exit code, or 128 + the signal that ended it
  std::string out, err;
};

// Runs `weir ARGUMENTS` by the shell, in the project's folder; "$W" in a script is the command.
[[nodiscard]] Outcome weir(const std::string& arguments);
[[nodiscard]] Outcome bash(const std::string& script);

// Of a run that must succeed.
[[nodiscard]] nlohmann::json json_from(const std::string& arguments);

inline constexpr const char* kDemo = "traces/demo.jsonl.zst";

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

}  // namespace weir::app::test
