#include "trace/file_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <zstd.h>

#include "trace/message.h"
#include "weir/errors.h"

namespace weir::trace {
namespace {

constexpr std::size_t kMostBytesOfText = std::size_t{4} << 30;
constexpr std::size_t kAlwaysAllowed = std::size_t{64} << 20;
constexpr std::size_t kMostExpansion = 2000;  // traces of many equal steps reach some hundreds
constexpr std::size_t kChunk = std::size_t{1} << 20;

[[noreturn]] void fail(std::string_view source, std::string_view what) {
  throw BadInput(located(source, what));
}

[[noreturn]] void fail_reading(const std::filesystem::path& path, int error) {
  fail(path.native(), fmt::format("cannot be read ({}); check the path", std::strerror(error)));
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

std::size_t most_text_of(std::size_t compressed) {
  if (compressed > kMostBytesOfText / kMostExpansion) return kMostBytesOfText;
  return std::max(kAlwaysAllowed, compressed * kMostExpansion);
}

void check_readable(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) fail_reading(path, ENOENT);
  if (error) fail_reading(path, error.value());
  if (std::filesystem::is_directory(status))
    fail(path.native(), "is a directory; give the trace file in it");
  if (!std::filesystem::is_regular_file(status))
    fail(path.native(), "is not a regular file; write it to one first");
}

}  // namespace

std::vector<char> file_bytes(const std::filesystem::path& path) {
  check_readable(path);
  std::unique_ptr<std::FILE, CloseFile> file{std::fopen(path.c_str(), "rb")};
  if (!file) fail_reading(path, errno);
  std::vector<char> bytes;
  for (std::size_t got = 1; got > 0;) {
    std::size_t used = bytes.size();
    bytes.resize(used + kChunk);
    got = std::fread(bytes.data() + used, 1, kChunk, file.get());
    bytes.resize(used + got);
    if (bytes.size() > kMostBytesOfText) fail(path.native(), "is larger than 4 GiB; split it");
  }
  if (std::ferror(file.get()) != 0) fail_reading(path, errno);
  return bytes;
}

bool is_zstd(std::span<const char> bytes) {
  constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";
  return std::string_view(bytes.data(), bytes.size()).starts_with(kMagic);
}

Unfolded unfolded(std::span<const char> zstd, std::string_view source) {
  std::unique_ptr<ZSTD_DStream, FreeStream> stream{ZSTD_createDStream()};
  const std::size_t most = most_text_of(zstd.size());
  ZSTD_inBuffer in{zstd.data(), zstd.size(), 0};
  std::vector<char> text;
  std::size_t missing = 0;  // 0 = a frame is complete
  do {
    std::size_t used = text.size();
    text.resize(used + kChunk);
    ZSTD_outBuffer out{text.data() + used, kChunk, 0};
    missing = ZSTD_decompressStream(stream.get(), &out, &in);
    text.resize(used + out.pos);
    if (ZSTD_isError(missing) != 0)
      return {std::move(text), fmt::format("the zstd data is damaged ({}); get the file again",
                                           ZSTD_getErrorName(missing))};
    if (text.size() > most)
      fail(source, fmt::format("unfolds to more than {} MiB, which no trace of its size does; "
                               "unfold it yourself if you trust it",
                               most >> 20));
    if (missing != 0 && in.pos == in.size && out.pos < kChunk)
      return {std::move(text), "the zstd data ends too early; get the file again"};
  } while (in.pos < in.size || missing != 0);
  return {std::move(text), ""};
}

}  // namespace weir::trace
