#pragma once

#include <sys/resource.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "weir/trace.h"

namespace weir::trace::test {

// A trace's content: all of it but where it was read from.
bool same_content(const Trace& a, const Trace& b);

// JSON written with ' for ", which is easier to read in a test.
std::string json(std::string_view text);

Trace read(std::string_view text, std::string_view source = "t");
std::string error_of(std::string_view text, std::string_view source = "t");  // "" = it is readable
std::string written(const Trace& trace, bool zstd = false);

// The letters and digits of a text, for the name of a test.
std::string plain(std::string_view text);

// A number that changes with anything in the trace.
std::uint64_t fingerprint(const Trace& trace);

// A file of the shared data ($WEIR_DATA or beside the project), which is not part of it.
std::optional<std::filesystem::path> data_file(const std::string& name);

// A folder that is gone after the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A disk that is full after so many bytes.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    rlimit small{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

void write_file(const std::filesystem::path& path, std::string_view bytes);
std::string bytes_of(const std::filesystem::path& path);

}  // namespace weir::trace::test
