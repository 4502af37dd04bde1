#include "trace/testing.h"

#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

#include "trace/reader.h"
#include "trace/writer.h"
#include "weir/errors.h"

namespace weir::trace::test {

bool same_content(const Trace& a, const Trace& b) {
  return a.views == b.views && a.start == b.start && a.names == b.names &&
         a.storages == b.storages && a.tensors == b.tensors && a.ops == b.ops &&
         a.inputs == b.inputs && a.mutated == b.mutated && a.geometry == b.geometry &&
         a.layouts == b.layouts && a.arguments == b.arguments && a.settings == b.settings &&
         a.numbers == b.numbers && a.events == b.events;
}

std::string json(std::string_view text) {
  std::string result(text);
  std::ranges::replace(result, '\'', '"');
  return result;
}

Trace read(std::string_view text, std::string_view source) {
  return read_trace(std::span<const char>(text), source);
}

std::string error_of(std::string_view text, std::string_view source) {
  try {
    read(text, source);
    return "";
  } catch (const BadInput& error) {
    return error.what();
  }
}

std::string written(const Trace& trace, bool zstd) {
  StringSink text;
  ZstdSink compressed{text};
  write_trace(trace, zstd ? static_cast<Sink&>(compressed) : text);
  return text.text();
}

std::string plain(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(
      result, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return result;
}

std::uint64_t fingerprint(const Trace& trace) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a over the written form, which says it all
  for (char c : written(trace)) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

std::optional<std::filesystem::path> data_file(const std::string& name) {
  const char* told = getenv("WEIR_DATA");
  std::filesystem::path folder =
      told != nullptr ? told : std::filesystem::path(WEIR_SOURCE_DIR) / "../shared/data";
  std::filesystem::path file = folder / name;
  return std::filesystem::exists(file) ? std::optional(file) : std::nullopt;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = std::filesystem::temp_directory_path() / "weir_test_XXXXXX";
  path_ = mkdtemp(name.data());
}

TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path_); }

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace weir::trace::test
